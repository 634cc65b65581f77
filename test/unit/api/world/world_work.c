/* SPDX-License-Identifier: Apache-2.0 */
/* The store's answers to the core, and a worker that does as the test says. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "world_internal.h"

static void answer_rows(struct world *w, const struct read_ask *ask, struct arena *a)
{
	struct event ev = {.kind = ask->kind == READ_HEAD ? EV_HEAD_READ : EV_DUE_READ};
	struct task_row *rows = NULL;

	ev.rows.read = ask->number;
	ev.rows.queue = ask->kind == READ_HEAD ? ask->head.queue : ask->due.queue;
	if (ask->kind == READ_HEAD)
		store_queue_head(w->reader, &ask->head, a, &rows, &ev.rows.n);
	else
		store_queue_due(w->reader, &ask->due, a, &rows, &ev.rows.n);
	ev.rows.rows = rows;
	world_step(w, &ev);
}

static void answer_keys(struct world *w, const struct read_ask *ask, struct arena *a)
{
	struct event ev = {.kind = EV_KEYS_READ};
	rid *ids = arena_zalloc(a, (ask->n + 1) * sizeof *ids);
	struct idem_row *idem = arena_zalloc(a, (ask->n + 1) * sizeof *idem);

	for (size_t i = 0; i < ask->n; i++) {
		if (ask->keys[i].queue)
			store_find_key(w->reader, ask->keys[i].queue, ask->keys[i].key, &ids[i]);
		else if (store_find_idem(w->reader, ask->keys[i].key, a, &idem[i]))
			idem[i] = (struct idem_row){0};
	}
	ev.keys.read = ask->number;
	ev.keys.ids = ids;
	ev.keys.idem = idem;
	world_step(w, &ev);
}

static void answer_tasks(struct world *w, const struct read_ask *ask, struct arena *a)
{
	struct event ev = {.kind = EV_TASKS_READ};
	struct task_row *rows = arena_zalloc(a, (ask->n + 1) * sizeof *rows);
	rid *holders = arena_zalloc(a, (ask->n + 1) * sizeof *holders);
	struct task_batch_row *batches = arena_zalloc(a, (ask->n_batches + 1) * sizeof *batches);

	for (size_t i = 0; i < ask->n; i++) {
		if (store_task_get(w->reader, ask->ids[i], a, &rows[i]))
			rows[i] = (struct task_row){0};
		else if (rows[i].spec.key.p)
			store_find_key(
			    w->reader, rows[i].spec.queue, rows[i].spec.key, &holders[i]);
	}
	for (size_t i = 0; i < ask->n_batches; i++)
		if (store_batch_get(w->reader, ask->batches[i], a, &batches[i]))
			batches[i] = (struct task_batch_row){0};
	ev.rows.read = ask->number;
	ev.rows.rows = rows;
	ev.rows.batches = batches;
	ev.rows.holders = holders;
	ev.rows.n = ask->n;
	world_step(w, &ev);
}

static void answer_parts(struct world *w, const struct read_ask *ask, struct arena *a)
{
	struct event ev = {.kind = EV_PARTS_READ};
	struct part_page page;

	ev.parts.read = ask->number;
	assert_int_equal(store_parts(w->reader, &ask->parts, a, &page), 0);
	ev.parts.rows = page.rows;
	ev.parts.n = page.n;
	world_step(w, &ev);
}

void world_answer_read(struct world *w, const struct read_ask *ask)
{
	struct arena a = {0};

	if (ask->kind == READ_KEYS)
		answer_keys(w, ask, &a);
	else if (ask->kind == READ_TASKS)
		answer_tasks(w, ask, &a);
	else if (ask->kind == READ_PARTS)
		answer_parts(w, ask, &a);
	else
		answer_rows(w, ask, &a);
	arena_release(&a);
}

static void answer_check(struct world *w, const struct message *m)
{
	struct event ev = {.kind = EV_CHECKED};

	ev.link = m->link;
	ev.checked.number = m->check.number;
	ev.checked.ok = !w->check_fails;
	if (w->check_fails)
		ev.checked.reason = str_of(w->check_fails);
	world_step(w, &ev);
}

void world_checks_fail(struct world *w, const char *reason)
{
	w->check_fails = reason;
}

void world_message(struct world *w, const struct message *m)
{
	if (m->kind == MSG_CHECK && m->link == w->link)
		answer_check(w, m);
	if (m->kind != MSG_RUN || w->n_told == sizeof w->told / sizeof w->told[0])
		return;
	w->told[w->n_told++] = (struct told){m->run.task, m->run.token};
}

void world_worker(struct world *w, const char *name, int maxthreads)
{
	struct worker_facts f = {.shard = str_of(name),
	    .instance = 77 + w->link,
	    .started_ms = w->wall,
	    .start = w->wall,
	    .lock = str_of(name),
	    .host = STR("host"),
	    .zone = STR("a"),
	    .target = STR("x86_64-linux"),
	    .version = STR("1"),
	    .labels = STR("disk=ssd\n"),
	    .plugins = STR("command\nmail\n"),
	    .maxthreads = maxthreads};
	struct event ev = {.kind = EV_HELLO};

	ev.link = ++w->link;
	ev.hello.facts = f;
	world_step(w, &ev);
	world_run(w);
}

void world_worker_with(struct world *w, const char *name, const char *service, size_t n)
{
	struct link_held *held = xcalloc(n, sizeof *held);
	struct event ev = {.kind = EV_HELLO};

	for (size_t i = 0; i < n; i++)
		held[i] = (struct link_held){.task = 1000 + i,
		    .token = 3,
		    .started_ms = 1600000000000,
		    .instance = {str_of(service), STR("apps"), (uint32_t)i, 4,
		        STR("instances=1\n")},
		    .queue = STR("services"),
		    .fares = {3, true, true, STR("10.0.0.9"), STR("31007\n31008\n")}};
	ev.link = ++w->link;
	ev.hello.facts = (struct worker_facts){.shard = str_of(name),
	    .instance = 77 + w->link,
	    .started_ms = w->wall,
	    .start = w->wall,
	    .lock = str_of(name),
	    .host = STR("host"),
	    .zone = STR("a"),
	    .plugins = STR("command\n"),
	    .offer = STR("instances=100000\n"),
	    .maxthreads = -1};
	ev.hello.tasks = held;
	ev.hello.n_tasks = n;
	ev.hello.takes_needs = ev.hello.takes_services = true;
	world_step(w, &ev);
	world_run(w);
	free(held);
}

void world_worker_leaves(struct world *w)
{
	struct event ev = {.kind = EV_LINK_LOST};

	ev.link = w->link;
	world_step(w, &ev);
	world_run(w);
}

bool world_was_run(struct world *w, rid task, int64_t *ret_token)
{
	for (size_t i = w->n_told; i-- > 0;)
		if (w->told[i].task == task) {
			*ret_token = w->told[i].token;
			return true;
		}
	return false;
}

void world_started(struct world *w, rid task)
{
	struct event ev = {.kind = EV_STARTED};

	assert_true(world_was_run(w, task, &ev.started.token));
	ev.link = w->link;
	ev.started.task = task;
	ev.started.started_ms = w->wall;
	world_step(w, &ev);
	world_run(w);
}

void world_output(struct world *w, rid task, int stream, int64_t offset, const char *text)
{
	struct event ev = {.kind = EV_OUTPUT};

	assert_true(world_was_run(w, task, &ev.output.token));
	ev.link = w->link;
	ev.output.task = task;
	ev.output.stream = stream;
	ev.output.offset = offset;
	ev.output.raw_bytes = (int32_t)strlen(text);
	ev.output.data = str_of(text);
	world_step(w, &ev);
	world_run(w);
}

void world_ended(struct world *w, rid task, int status, int exit_code, const char *out)
{
	struct event ev = {.kind = EV_ENDED};

	assert_true(world_was_run(w, task, &ev.ended.token));
	ev.link = w->link;
	ev.ended.task = task;
	ev.ended.status = status;
	ev.ended.exit_code = exit_code;
	ev.ended.started_ms = w->wall;
	ev.ended.ended_ms = w->wall;
	if (out) {
		ev.ended.output_where = OUTPUT_INLINE;
		ev.ended.output[STDOUT] = str_of(out);
		ev.ended.output[STDERR] = STR("");
		ev.ended.output_bytes[STDOUT] = (int64_t)strlen(out);
		ev.ended.usage = (struct usage){1200400, 99600, 45 << 20, 1, true};
		ev.ended.result = str_of(out);
	}
	world_step(w, &ev);
	world_run(w);
}
