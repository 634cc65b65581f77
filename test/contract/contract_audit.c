/* SPDX-License-Identifier: Apache-2.0 */
/* The audit trail is a chain, whatever is committed, refused, expired or read meanwhile. */
#include <string.h>

#include "contract.h"

static void add_event(struct ctx *c, uint64_t seq, int64_t time_ms, const char *subject)
{
	struct event_row *e = arena_zalloc(&c->b.arena, sizeof *e);

	*e = (struct event_row){.seq = seq,
	    .time_ms = time_ms,
	    .kind = STR("queue.created"),
	    .subject = arena_str(&c->b.arena, str_of(subject)),
	    .actor = seq % 2 ? STR("uid=0") : STR_NULL,
	    .detail = seq % 3 ? STR("{}") : STR("")};
	batch_put(&c->b, &event_table, e);
}

static void check(struct ctx *c, struct audit_check *k)
{
	for (int i = 0; i < 1000 && !k->done; i++)
		assert_int_equal(store_audit_step(c->r, k), 0);
	assert_true(k->done);
}

static void assert_fits(struct ctx *c, uint64_t first, uint64_t head, int64_t n)
{
	struct audit_check k = {0};

	check(c, &k);
	if (k.fault)
		fail_msg("%s: %s", audit_fault_name(k.fault), k.what);
	assert_int_equal(k.first, first);
	assert_int_equal(k.head.seq, head);
	assert_int_equal(k.n, n);
	assert_int_equal(k.n_before, 0);
}

static struct chain_end head_of(struct ctx *c)
{
	struct audit_check k = {0};

	check(c, &k);
	return k.head;
}

/* Several in one batch follow each other; numbers may have gaps. */
void test_audit_chain(void **state)
{
	struct ctx *c = *state;
	struct event_page page;

	assert_fits(c, 0, 0, 0);
	for (uint64_t seq = 1; seq <= 1201; seq += 3) {
		add_event(c, seq, (int64_t)seq, "a");
		if (seq % 2)
			commit(c);
	}
	commit(c);
	assert_fits(c, 1, 1201, 401);
	for (uint64_t seq = 1300; seq < 2300; seq++) /* more than one step looks at */
		add_event(c, seq, (int64_t)seq, "b");
	commit(c);
	assert_fits(c, 1, 2299, 1401);
	assert_int_equal(store_events(c->r, 1201, 2, &c->a, &page), 0);
	assert_int_equal(page.rows[0].prev, 1201);
	assert_int_equal(page.rows[1].prev, 1300);
	assert_memory_not_equal(page.rows[0].hash.p, page.rows[1].hash.p, CHAIN_HASH_BYTES);
}

/* A head that was kept elsewhere is found again in what has grown since. */
void test_audit_kept_head(void **state)
{
	struct ctx *c = *state;
	struct audit_check k = {0};
	char text[CHAIN_END_TEXT];
	struct chain_end kept;

	for (uint64_t seq = 1; seq <= 9; seq++)
		add_event(c, seq, 100, "a");
	commit(c);
	kept = head_of(c);
	assert_true(chain_end_parse(str_of(chain_end_format(&kept, text)), &k.expect));
	assert_memory_equal(&kept, &k.expect, sizeof kept);
	add_event(c, 10, 100, "later");
	commit(c);
	check(c, &k);
	assert_int_equal(k.fault, AUDIT_FITS);
	k = (struct audit_check){.expect = kept};
	k.expect.hash[31] ^= 1;
	check(c, &k);
	assert_int_equal(k.fault, AUDIT_REWRITTEN);
	assert_int_equal(k.fault_seq, 9);
	k = (struct audit_check){.expect = {.seq = 77}};
	check(c, &k);
	assert_int_equal(k.fault, AUDIT_MISSING);
	assert_int_equal(k.fault_seq, 77);
}

/* What was not written has not moved the chain; tried again, it moves it once. */
void test_audit_refused_commit(void **state)
{
	struct ctx *c = *state;
	struct problem p = {0};
	struct chain_end before;

	add_insert(c, task_new(c, 5, 1, TASK_QUEUED));
	add_event(c, 1, 1, "a");
	commit(c);
	before = head_of(c);
	for (int i = 0; i < 3; i++) {
		struct chain_end now;

		add_event(c, 2, 2, "refused");
		add_event(c, 3, 2, "refused");
		add_insert(c, task_new(c, 5, 1, TASK_QUEUED)); /* is there already */
		assert_int_not_equal(try_commit(c, &p), 0);
		now = head_of(c);
		assert_memory_equal(&before, &now, sizeof now);
	}
	add_event(c, 2, 2, "again");
	add_event(c, 3, 2, "again");
	commit(c);
	assert_fits(c, 1, 3, 3);
}

void test_audit_expired(void **state)
{
	struct ctx *c = *state;
	struct audit_check k = {0};
	struct problem p = {0};
	struct chain_end kept;

	for (uint64_t seq = 1; seq <= 2500; seq++)
		add_event(c, seq, (int64_t)seq, "a");
	commit(c);
	kept = head_of(c);
	assert_int_equal(store_expire(c->s, 0, 2400, &p), 0);
	assert_fits(c, 2400, 2500, 101);
	k.expect.seq = 2398;
	check(c, &k);
	assert_int_equal(k.fault, AUDIT_EXPIRED);
	assert_int_equal(store_expire(c->s, 0, 9999, &p), 0); /* all of them */
	assert_fits(c, 0, 2500, 0);
	k = (struct audit_check){.expect = kept};
	check(c, &k);
	assert_int_equal(k.fault, AUDIT_FITS);
	add_event(c, 2501, 10000, "a");
	commit(c);
	assert_fits(c, 2501, 2501, 1);
}

static size_t n_events(struct ctx *c)
{
	struct event_page page;

	assert_int_equal(store_events(c->r, 0, 1000, &c->a, &page), 0);
	return page.n;
}

/* Clocks were set: an old event behind one that stays stays; one of the future holds up nobody. */
void test_audit_expired_in_order(void **state)
{
	static const int64_t times[] = {10, 99999, 20, 500, 30, 99999, 40, 600};
	struct ctx *c = *state;
	struct problem p = {0};

	for (uint64_t i = 0; i < 8; i++)
		add_event(c, i + 1, times[i], "a");
	commit(c);
	assert_int_equal(store_expire(c->s, 0, 0, &p), 0);
	assert_int_equal(n_events(c), 8);
	assert_int_equal(store_expire(c->s, 0, 15, &p), 0);
	assert_int_equal(n_events(c), 7);
	assert_int_equal(store_expire(c->s, 0, 100, &p), 0);
	assert_int_equal(n_events(c), 5); /* from 500 on */
	assert_fits(c, 4, 8, 5);
	assert_int_equal(store_expire(c->s, 0, 550, &p), 0);
	assert_int_equal(n_events(c), 1);
	assert_fits(c, 8, 8, 1);
	add_event(c, 9, 5, "a"); /* the clock began at 1970, and was set right soon after */
	commit(c);
	assert_int_equal(store_expire(c->s, 0, 550, &p), 0);
	assert_fits(c, 8, 9, 2);
	assert_int_equal(store_expire(c->s, 0, 700, &p), 0);
	assert_fits(c, 0, 9, 0);
}

/* Between two steps events come and go. */
void test_audit_expires_while_checked(void **state)
{
	struct ctx *c = *state;
	struct audit_check k = {0};
	struct problem p = {0};

	for (uint64_t seq = 1; seq <= 3000; seq++)
		add_event(c, seq, (int64_t)seq, "a");
	commit(c);
	assert_int_equal(store_audit_step(c->r, &k), 0);
	assert_false(k.done);
	assert_int_equal(store_expire(c->s, 0, 2000, &p), 0);
	add_event(c, 3001, 3001, "a");
	commit(c);
	check(c, &k);
	assert_int_equal(k.fault, AUDIT_FITS);
	assert_int_equal(k.head.seq, 3001);
}

/* A store in memory begins anew; any other goes on where it was. */
void test_audit_is_part_of_the_start(void **state)
{
	struct ctx *c = *state;

	add_event(c, 1, 1, "a");
	commit(c);
	ctx_reopen(c);
	add_event(c, 2, 2, "a");
	commit(c);
	if (strcmp(store_backend(c->s), "memory") == 0)
		assert_fits(c, 2, 2, 1);
	else
		assert_fits(c, 1, 2, 2);
}
