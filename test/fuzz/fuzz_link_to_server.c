/* SPDX-License-Identifier: Apache-2.0 */
/* Arbitrary bytes as a worker's frame. What is accepted must survive being written and read again.
 */
#include <string.h>

#include "base/mem.h"
#include "wire/link/link_words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = {0};
	struct buf b = {0};
	struct problem p = {0};
	struct id_space ids = {0};
	struct link_to_server m, again;

	if (link_decode_to_server((struct str){(const char *)data, size}, &a, &m, &p) == 0) {
		link_encode_to_server(&m, &a, &b);
		MUST(link_decode_to_server(buf_str(&b), &a, &again, &p) == 0);
		MUST(again.n_ended == m.n_ended && again.n_output == m.n_output);
		MUST(again.n_started == m.n_started && !again.hello == !m.hello);
		MUST(!again.knock == !m.knock && again.n_input_ack == m.n_input_ack);
		for (size_t i = 0; i < m.n_input_ack; i++)
			MUST(again.input_ack[i].end == m.input_ack[i].end);
		MUST(again.n_checked == m.n_checked && again.n_notified == m.n_notified);
		MUST(again.has_beat == m.has_beat && again.beat.own == m.beat.own);
		MUST(str_eq(again.clock, m.clock));
		for (size_t i = 0; i < m.n_notified; i++)
			MUST(again.notified[i].n_held == m.notified[i].n_held &&
			     again.notified[i].n_absent == m.notified[i].n_absent);
		for (size_t i = 0; m.hello && i < m.hello->n_tasks; i++)
			MUST(memcmp(&m.hello->tasks[i].receipt, &again.hello->tasks[i].receipt,
			         RECEIPT_BYTES) == 0);
		for (size_t i = 0; i < m.n_ended; i++)
			MUST(str_eq(m.ended[i].reason, again.ended[i].reason));
		buf_reset(&b);
		link_words_to_server(&m, &ids, &b); /* any frame can be told */
	} else {
		MUST(p.code == ERR_PROTOCOL && p.what[0]);
	}
	buf_release(&b);
	arena_release(&a);
	return 0;
}
