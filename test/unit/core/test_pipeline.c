/* SPDX-License-Identifier: Apache-2.0 */
/* Durable, then visible, as stories of the machine alone: who leaves when, and in which order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../walk.h"
#include "base/mem.h"
#include "core/pipeline/pipeline.h"
#include "core/pipeline/tickets.h"

struct told {
	char text[256];
	int dies_after; /* so many things, then the shell ends; 0: never */
};

static bool note(struct told *t, const char *what, unsigned long long n)
{
	size_t at = strlen(t->text);

	snprintf(t->text + at, sizeof t->text - at, "%s%s%llu", at ? " " : "", what, n);
	return !t->dies_after || --t->dies_after > 0;
}

static bool let_read(const struct read_ask *ask, void *arg)
{
	return note(arg, "read", ask->number);
}

static bool let_send(const struct message *m, size_t n, void *arg)
{
	for (size_t i = 0; i < n; i++)
		if (!note(arg, "send", m[i].link))
			return false;
	return true;
}

static bool let_answer(const struct reply *r, void *arg)
{
	return note(arg, "answer", r->ticket);
}

static bool let_tell(const struct effects *fx, void *arg)
{
	for (size_t i = 0; i < fx->n_notices; i++)
		note(arg, "notice", fx->notices[i].seq);
	return true;
}

static bool release(struct pipeline *p, struct effects *fx, struct told *t)
{
	struct pipeline_outlets out = {let_read, let_send, let_answer, let_tell, t};

	return pipeline_release(p, fx, &out);
}

static void gather_row(struct pipeline *p)
{
	batch_prune(&p->gathering->batch, 1);
}

static void gather_reply(struct pipeline *p, uint64_t ticket)
{
	effects_reply(p->gathering, ticket);
}

static void assert_nothing(struct pipeline_work w)
{
	assert_null(w.commit);
	assert_null(w.release);
	assert_false(w.retry || w.tell_unknown || w.go_on || w.end);
}

static struct pipeline *begin(void)
{
	struct pipeline *p = xcalloc(1, sizeof *p);

	pipeline_begin(p);
	return p;
}

static void end(struct pipeline *p)
{
	pipeline_free(p);
	free(p);
}

static void nothing_gathered_nothing_to_do(void **state)
{
	struct pipeline *p = begin();

	assert_nothing(pipeline_flush(p));
	end(p);
}

static void an_answer_waits_for_its_row(void **state)
{
	struct pipeline *p = begin();
	struct told told = {0};
	struct pipeline_work w;

	gather_row(p);
	gather_reply(p, 7);
	assert_true(pipeline_is_durable(p, 0));
	assert_false(pipeline_is_durable(p, p->gathering->batch.seq));
	w = pipeline_flush(p);
	assert_non_null(w.commit);
	assert_null(w.release);
	assert_false(pipeline_is_durable(p, w.commit->seq));
	assert_nothing(pipeline_flush(p)); /* asked again it has nothing more */
	w = pipeline_committed(p, COMMIT_DURABLE);
	assert_true(pipeline_is_durable(p, w.release->batch.seq));
	assert_false(pipeline_is_durable(p, p->gathering->batch.seq));
	assert_null(w.commit);
	assert_true(release(p, w.release, &told));
	assert_string_equal(told.text, "answer7");
	assert_nothing(pipeline_flush(p));
	end(p);
}

static void what_has_no_rows_waits_for_what_flies(void **state)
{
	struct pipeline *p = begin();
	struct told told = {0};
	struct pipeline_work w;

	gather_row(p);
	pipeline_flush(p);
	gather_reply(p, 8);
	assert_nothing(pipeline_flush(p));
	w = pipeline_committed(p, COMMIT_DURABLE);
	assert_null(w.commit); /* no rows: there is nothing to commit */
	release(p, w.release, &told);
	assert_string_equal(told.text, "");
	w = pipeline_flush(p);
	assert_null(w.commit);
	release(p, w.release, &told);
	assert_string_equal(told.text, "answer8");
	end(p);
}

static void the_next_commit_begins_before_the_last_is_told(void **state)
{
	struct pipeline *p = begin();
	struct told told = {0};
	struct pipeline_work w;
	uint64_t first;

	gather_row(p);
	gather_reply(p, 1);
	first = pipeline_flush(p).commit->seq;
	gather_row(p);
	gather_reply(p, 2);
	w = pipeline_committed(p, COMMIT_DURABLE);
	assert_int_equal(w.commit->seq, first + 1);
	gather_reply(p, 3); /* a step that the release causes gathers in the third set */
	release(p, w.release, &told);
	assert_string_equal(told.text, "answer1");
	assert_nothing(pipeline_flush(p));
	w = pipeline_committed(p, COMMIT_DURABLE);
	release(p, w.release, &told);
	assert_string_equal(told.text, "answer1 answer2");
	release(p, pipeline_flush(p).release, &told);
	assert_string_equal(told.text, "answer1 answer2 answer3");
	end(p);
}

static void who_waits_for_another_set_goes_on_when_it_gathers(void **state)
{
	struct pipeline *p = begin();
	struct told told = {0};
	struct pipeline_work w;

	gather_row(p);
	assert_false(pipeline_flush(p).go_on);
	gather_row(p);
	p->gathering->go_on = true;
	assert_nothing(pipeline_flush(p)); /* the first still flies */
	w = pipeline_committed(p, COMMIT_DURABLE);
	assert_non_null(w.commit);
	assert_true(w.go_on);
	release(p, w.release, &told);
	w = pipeline_committed(p, COMMIT_DURABLE);
	assert_false(w.go_on); /* once is enough */
	release(p, w.release, &told);
	p->gathering->go_on = true; /* a set of nothing else */
	assert_true(pipeline_flush(p).go_on);
	end(p);
}

static void a_set_leaves_in_one_order(void **state)
{
	struct pipeline *p = begin();
	struct told told = {0};

	effects_notice(p->gathering, "queue.paused")->seq = 4;
	gather_reply(p, 3);
	effects_message(p->gathering, MSG_KILL, 2);
	effects_read(p->gathering, READ_KEYS)->number = 1;
	release(p, pipeline_flush(p).release, &told);
	assert_string_equal(told.text, "read1 send2 answer3 notice4");
	end(p);
}

static void a_refused_commit_is_tried_whole_until_it_is_durable(void **state)
{
	struct pipeline *p = begin();
	struct told told = {0};
	struct pipeline_work w;
	struct batch *batch;

	gather_row(p);
	gather_row(p);
	gather_reply(p, 5);
	batch = pipeline_flush(p).commit;
	for (int i = 0; i < 3; i++) {
		w = pipeline_committed(p, COMMIT_REFUSED);
		assert_true(w.retry && w.tell_unknown && !w.end);
		assert_null(w.commit);
		assert_null(w.release);
		assert_true(p->is_stuck);
		gather_row(p); /* what comes meanwhile has to wait */
		assert_nothing(pipeline_flush(p));
		assert_ptr_equal(pipeline_retry(p).commit, batch);
		assert_int_equal(batch->n, 2);
	}
	w = pipeline_committed(p, COMMIT_DURABLE);
	assert_false(p->is_stuck);
	assert_int_equal(w.commit->n, 3);
	release(p, w.release, &told);
	assert_string_equal(told.text, "answer5");
	end(p);
}

static void an_unknown_outcome_ends_the_shell_and_tells_nobody(void **state)
{
	struct pipeline *p = begin();
	struct pipeline_work w;

	gather_row(p);
	gather_reply(p, 5);
	pipeline_flush(p);
	w = pipeline_committed(p, COMMIT_UNKNOWN);
	assert_true(w.end);
	assert_null(w.commit);
	assert_null(w.release);
	assert_false(w.retry || w.tell_unknown);
	end(p);
}

static void a_shell_that_dies_while_it_tells_tells_no_more(void **state)
{
	struct pipeline *p = begin();
	struct told told = {.dies_after = 2};
	uint64_t seq = p->seq;

	for (uint64_t i = 1; i <= 3; i++)
		gather_reply(p, i);
	assert_false(release(p, pipeline_flush(p).release, &told));
	assert_string_equal(told.text, "answer1 answer2");
	pipeline_drop(p);
	pipeline_begin(p);
	assert_true(p->gathering->batch.seq > seq);
	assert_nothing(pipeline_flush(p));
	end(p);
}

static void on_answer(const struct reply *r, void *arg)
{
	note(arg, r ? "got" : "lost", r ? r->ticket : 0);
}

static void a_ticket_is_answered_once(void **state)
{
	struct told told = {0};
	struct tickets t;
	uint64_t a, b;

	tickets_init(&t);
	a = tickets_take(&t, on_answer, &told);
	b = tickets_take(&t, on_answer, &told);
	tickets_answer(&t, &(struct reply){.ticket = b});
	tickets_answer(&t, &(struct reply){.ticket = b});
	assert_string_equal(told.text, "got2");
	tickets_answer_all(&t, NULL);
	tickets_answer(&t, &(struct reply){.ticket = a}); /* it comes after all: nobody waits */
	assert_string_equal(told.text, "got2 lost0");
	tickets_take(&t, on_answer, &told);
	tickets_release(&t);
	assert_string_equal(told.text, "got2 lost0");
}

static unsigned set(unsigned from, unsigned to)
{
	struct pipeline p = {.sets[1].state = from};

	set_move(&p, &p.sets[1].effects, to);
	return p.sets[1].state;
}

static void a_set_moves_by_its_table(void **state)
{
	walk(&set_moves, set);
}

static bool two_sets_gather(void)
{
	struct rlimit none = {0, 0};
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct pipeline *p = begin();

		setrlimit(RLIMIT_CORE, &none);
		set_move(p, &p->sets[2].effects, SET_GATHERING);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void no_two_sets_are_in_one_state(void **state)
{
	assert_false(two_sets_gather());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_gathered_nothing_to_do),
	    cmocka_unit_test(an_answer_waits_for_its_row),
	    cmocka_unit_test(what_has_no_rows_waits_for_what_flies),
	    cmocka_unit_test(the_next_commit_begins_before_the_last_is_told),
	    cmocka_unit_test(who_waits_for_another_set_goes_on_when_it_gathers),
	    cmocka_unit_test(a_set_leaves_in_one_order),
	    cmocka_unit_test(a_refused_commit_is_tried_whole_until_it_is_durable),
	    cmocka_unit_test(an_unknown_outcome_ends_the_shell_and_tells_nobody),
	    cmocka_unit_test(a_shell_that_dies_while_it_tells_tells_no_more),
	    cmocka_unit_test(a_ticket_is_answered_once),
	    cmocka_unit_test(a_set_moves_by_its_table),
	    cmocka_unit_test(no_two_sets_are_in_one_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
