/* SPDX-License-Identifier: Apache-2.0 */
/* Arbitrary bytes as a server's frame. What is accepted must survive being written and read again.
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
	struct link_to_worker m, again;

	if (link_decode_to_worker((struct str){(const char *)data, size}, &a, &m, &p) == 0) {
		link_encode_to_worker(&m, &a, &b);
		MUST(link_decode_to_worker(buf_str(&b), &a, &again, &p) == 0);
		MUST(again.n_run == m.n_run && again.n_kill == m.n_kill);
		MUST(again.n_ended_ack == m.n_ended_ack && again.n_output_ack == m.n_output_ack);
		MUST(again.n_input == m.n_input);
		for (size_t i = 0; i < m.n_input; i++)
			MUST(str_eq(again.input[i].data, m.input[i].data) &&
			     again.input[i].offset == m.input[i].offset &&
			     again.input[i].end == m.input[i].end);
		MUST(again.n_notify == m.n_notify && again.has_check == m.has_check);
		MUST(again.has_beat_ack == m.has_beat_ack && str_eq(again.clock, m.clock));
		MUST(again.beat_ack.number == m.beat_ack.number);
		for (size_t i = 0; i < m.n_notify; i++)
			MUST(again.notify[i].n_refs == m.notify[i].n_refs);
		for (size_t i = 0; i < m.n_run; i++)
			MUST(m.run[i].n_ports == again.run[i].n_ports &&
			     str_eq(m.run[i].instance.service, again.run[i].instance.service) &&
			     str_eq(m.run[i].instance.need, again.run[i].instance.need));
		for (size_t i = 0; i < m.n_run; i++)
			MUST(str_eq(m.run[i].body, again.run[i].body) &&
			     memcmp(&m.run[i].receipt, &again.run[i].receipt, RECEIPT_BYTES) == 0);
		buf_reset(&b);
		link_words_to_worker(&m, &ids, &b); /* any frame can be told */
	} else {
		MUST(p.code == ERR_PROTOCOL && p.what[0]);
	}
	buf_release(&b);
	arena_release(&a);
	return 0;
}
