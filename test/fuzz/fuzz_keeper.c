/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arbitrary bytes as what a worker says to its keeper, which may have the greater rights, and as
 * what a keeper says. What is accepted must survive being written and read again.
 */
#include "base/mem.h"
#include "wire/link/keeper.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void from_worker(struct str bytes, struct arena *a, struct buf *b)
{
	struct problem p = {0};
	struct to_keeper m, again;

	if (to_keeper_decode(bytes, a, &m, &p) < 0) {
		MUST(p.code == ERR_PROTOCOL && p.what[0]);
		return;
	}
	to_keeper_encode(&m, a, b);
	MUST(to_keeper_decode(buf_str(b), a, &again, &p) == 0);
	MUST(!m.start == !again.start && !m.open == !again.open && !m.signal == !again.signal);
	MUST(!m.start || (m.start->id == again.start->id && m.start->n_fds == again.start->n_fds));
	MUST(!m.start || str_eq(m.start->note, again.start->note));
	MUST(m.release == again.release && m.leave == again.leave);
}

static void from_keeper(struct str bytes, struct arena *a, struct buf *b)
{
	struct problem p = {0};
	struct from_keeper m, again;

	if (from_keeper_decode(bytes, a, &m, &p) < 0)
		return;
	buf_reset(b);
	from_keeper_encode(&m, a, b);
	MUST(from_keeper_decode(buf_str(b), a, &again, &p) == 0);
	MUST(!m.kept == !again.kept && !m.over == !again.over && m.all_kept == again.all_kept);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str bytes = {(const char *)data, size};
	struct arena a = {0};
	struct buf b = {0};

	from_worker(bytes, &a, &b);
	from_keeper(bytes, &a, &b);
	buf_release(&b);
	arena_release(&a);
	return 0;
}
