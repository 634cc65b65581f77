/* SPDX-License-Identifier: Apache-2.0 */
/* Arbitrary bytes as a worker's frame. What is accepted must survive being written and read again.
 */
#include <string.h>

#include "base/mem.h"
#include "wire/link/link_words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_fares(const struct link_fares *a, const struct link_fares *b)
{
	MUST(a->container == b->container && a->is_up == b->is_up && a->is_ready == b->is_ready);
	MUST(str_eq(a->address, b->address) && str_eq(a->ports, b->ports));
	MUST(a->is_up || !a->is_ready);
}

static void check_instance(const struct link_held *a, const struct link_held *b)
{
	MUST(str_eq(a->instance.service, b->instance.service));
	if (!a->instance.service.p)
		return;
	MUST(str_eq(a->instance.domain, b->instance.domain) && str_eq(a->queue, b->queue));
	MUST(str_eq(a->instance.need, b->instance.need) && a->instance.index == b->instance.index);
	MUST(a->instance.revision == b->instance.revision);
	check_fares(&a->fares, &b->fares);
}

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
		MUST(again.n_health == m.n_health);
		for (size_t i = 0; i < m.n_health; i++)
			check_fares(&m.health[i].fares, &again.health[i].fares);
		for (size_t i = 0; m.hello && i < m.hello->n_tasks; i++)
			check_instance(&m.hello->tasks[i], &again.hello->tasks[i]);
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
