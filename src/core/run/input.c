/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streamed input: appended by whoever submitted the task, asked for by the worker that runs it. An
 * attempt asks for one part at a time, so what is in memory is bounded by how many are read at once
 * and by how many parts are on their way.
 */
#include "core/run/input.h"

#include <stdlib.h>

#include "core/state.h"
#include "model/limits.h"

#define READS_MAX 8 /* at once, of at most INPUT_PART_BYTES each */
/* What is deleted at once: stores write over what they delete, and others wait for the commit. */
#define SLICE_BYTES (2LL << 20)
#define SLICE_EVERY_MS 100

void inputs_init(struct inputs *all)
{
	TAILQ_INIT(&all->all);
	TAILQ_INIT(&all->line);
}

static struct input *find(const struct core *c, rid task)
{
	struct input *in = idmap_get(&c->inputs.by_task, task);

	return in && in->row.end != INPUT_GONE ? in : NULL;
}

static struct input *add(struct core *c, const struct input_row *row)
{
	struct input *in = xcalloc(1, sizeof *in);

	in->row = *row;
	idmap_put(&c->inputs.by_task, row->task, in);
	TAILQ_INSERT_TAIL(&c->inputs.all, in, all);
	return in;
}

static void leave_line(struct core *c, struct input *in)
{
	if (in->is_in_line)
		TAILQ_REMOVE(&c->inputs.line, in, line);
	in->is_in_line = false;
}

static void forget(struct core *c, struct input *in)
{
	timer_clear(c, TIMER_MONO, &in->timer);
	leave_line(c, in);
	TAILQ_REMOVE(&c->inputs.all, in, all);
	idmap_del(&c->inputs.by_task, in->row.task);
	free(in);
}

void inputs_release(struct core *c)
{
	struct input *in;

	while ((in = TAILQ_FIRST(&c->inputs.all)))
		forget(c, in);
	idmap_release(&c->inputs.by_task);
}

/* The input's task cannot be given the rest. It goes the way of every cancel, since it may be in
 * the store only. */
static void break_off(
    struct core *c, const struct input *in, struct str reason, struct effects *out)
{
	rid task = in->row.task; /* the input may go with its task */
	struct event ev = {.kind = EV_CANCEL,
	    .now_ms = c->now_ms,
	    .mono_ms = c->mono_ms,
	    .seed = c->seed,
	    .actor = STR("reeve"),
	    .tasks = {.ids = &task, .n = 1, .reason = reason}};

	core_command(c, &ev, out);
}

static void on_silence(struct core *c, struct timer *t, struct effects *out);

static void heard(struct core *c, struct input *in)
{
	if (in->row.end == INPUT_ENDED)
		timer_clear(c, TIMER_MONO, &in->timer);
	else
		timer_set(c, TIMER_MONO, &in->timer, c->mono_ms + c->o.input_silence_ms,
		    in->row.task, on_silence);
}

/* Said again for as long as the task is there: it may not be possible to cancel it yet. */
static void on_silence(struct core *c, struct timer *t, struct effects *out)
{
	struct input *in = CONTAINER_OF(t, struct input, timer);
	struct arena *a = &out->batch.arena;

	heard(c, in);
	if (in->row.end == INPUT_DAMAGED)
		break_off(c, in, STR("its input is damaged in the store"), out);
	else
		break_off(c, in,
		    arena_strf(a,
		        "its input broke off after %lld bytes: nothing was heard of its sender "
		        "for %lld s",
		        (long long)in->row.size, (long long)c->o.input_silence_ms / 1000),
		    out);
}

void input_load(struct core *c, const struct input_row *row)
{
	add(c, row);
}

static void save(struct input *in, struct effects *out)
{
	batch_put(
	    &out->batch, &input_table, arena_memdup(&out->batch.arena, &in->row, sizeof in->row));
}

static void on_slice(struct core *c, struct timer *t, struct effects *out);

static void slice_later(struct core *c, struct input *in)
{
	timer_set(c, TIMER_MONO, &in->timer, c->mono_ms + SLICE_EVERY_MS, in->row.task, on_slice);
}

static void on_slice(struct core *c, struct timer *t, struct effects *out)
{
	struct input *in = CONTAINER_OF(t, struct input, timer);

	in->taken += SLICE_BYTES;
	if (in->taken >= in->row.size) {
		batch_delete(&out->batch, &input_table, in->row.task);
		forget(c, in);
		return;
	}
	batch_trim(&out->batch, &input_part_table, in->row.task, in->taken);
	slice_later(c, in);
}

void inputs_started(struct core *c)
{
	struct input *in;

	TAILQ_FOREACH (in, &c->inputs.all, all)
		if (in->row.end == INPUT_GONE)
			slice_later(c, in);
		else
			heard(c, in);
}

void input_begin(struct core *c, const struct task_row *task, struct effects *out)
{
	struct input_row row = {.task = task->id, .queue = task->spec.queue};
	struct input *in = add(c, &row);

	save(in, out);
	heard(c, in);
}

void input_drop(struct core *c, rid task, struct effects *out)
{
	struct input *in = find(c, task);

	if (!in)
		return;
	if (in->row.size <= SLICE_BYTES) {
		batch_delete(&out->batch, &input_table, task);
		forget(c, in);
		return;
	}
	leave_line(c, in);
	in->row.end = INPUT_GONE;
	in->taken = 0;
	save(in, out);
	slice_later(c, in);
}

void inputs_drop_queue(struct core *c, rid queue, struct effects *out)
{
	struct input *in, *next;

	TAILQ_FOREACH_SAFE (in, &c->inputs.all, all, next)
		if (in->row.queue == queue)
			input_drop(c, in->row.task, out);
}

/* The attempt that asked, if it is still the present one and can be spoken to. */
static const struct task *reader_of(const struct core *c, const struct input *in)
{
	const struct task *t = task_find(c, in->row.task);

	return t && t->worker && t->worker->link && t->row.state.token == in->token ? t : NULL;
}

static void send(const struct task *t, struct input *in, struct str data, struct effects *out)
{
	int64_t end = in->taken + (int64_t)data.n;

	in->is_asked = false;
	effects_message(out, MSG_INPUT, t->worker->link)->input = (struct link_input){in->row.task,
	    in->token, in->taken, arena_str(&out->batch.arena, data),
	    in->row.end == INPUT_ENDED && end == in->row.size};
}

static void read_next(struct core *c, struct effects *out)
{
	struct input *in;

	while (c->inputs.n_reading < READS_MAX && (in = TAILQ_FIRST(&c->inputs.line))) {
		struct read_ask *r = effects_read(out, READ_INPUT);

		TAILQ_REMOVE(&c->inputs.line, in, line);
		in->is_in_line = false;
		c->inputs.n_reading++;
		r->number = in->reading = ++c->last_read;
		r->parts = (struct part_query){.table = &input_part_table,
		    .object = in->row.task,
		    .from = in->taken,
		    .oldest_first = true,
		    .limit = 1};
	}
}

/* What the attempt waits for may be there. */
static void feed(struct core *c, struct input *in, struct effects *out)
{
	const struct task *t = reader_of(c, in);

	if (!t || !in->is_asked || in->reading || in->is_in_line)
		return;
	if (in->taken == in->row.size) {
		if (in->row.end == INPUT_ENDED)
			send(t, in, STR_NULL, out);
		return;
	}
	TAILQ_INSERT_TAIL(&c->inputs.line, in, line);
	in->is_in_line = true;
	read_next(c, out);
}

static bool is_next_part(const struct input *in, const struct input_part_row *p)
{
	return p->offset == in->taken && p->data.n > 0 && p->data.n <= INPUT_PART_BYTES &&
	       (int64_t)p->data.n <= in->row.size - in->taken;
}

/* A read that has failed is begun again when the worker repeats what it asks for. */
void input_was_read(struct core *c, const struct event *ev, struct effects *out)
{
	struct input *in = find(c, ev->parts.object);
	const struct input_part_row *p = ev->parts.rows;
	const struct task *t;

	c->inputs.n_reading--;
	if (in && in->reading == ev->parts.read) {
		in->reading = 0;
		t = reader_of(c, in);
		if (ev->parts.failed || !t || !in->is_asked)
			;
		else if (ev->parts.n > 0 && is_next_part(in, p))
			send(t, in, p->data, out);
		else
			break_off(c, in, STR("its input is damaged in the store"), out);
	}
	read_next(c, out);
}

void input_ask(struct core *c, const struct task *t, int64_t from, struct effects *out)
{
	struct input *in = find(c, t->row.id);
	bool is_new = in && in->token != t->row.state.token;

	if (!in || in->row.end == INPUT_DAMAGED || from > in->row.size)
		return;
	if (!is_new && from < in->taken)
		return; /* said before what we know */
	if (is_new || from != in->taken)
		in->reading = 0; /* what comes of it is not wanted any more */
	in->token = t->row.state.token;
	in->taken = from;
	in->is_asked = true;
	feed(c, in, out);
}

static int refuse(
    const struct core *c, const struct input *in, const struct event *ev, struct problem *p)
{
	size_t n = ev->input.data.n;

	if (!in || in->row.end == INPUT_DAMAGED) {
		problem_set(p, ERR_CONFLICT, "the task takes no input");
		return problem_hint(
		    p, "it has ended, or was not submitted with \"stdin\":\"stream\"");
	}
	if (in->row.end == INPUT_ENDED && (n > 0 || !ev->input.end))
		return problem_set(p, ERR_CONFLICT, "the task's input has ended");
	if (ev->input.offset != in->row.size) {
		problem_set(p, ERR_CONFLICT, "the task's input has %lld bytes, not %lld",
		    (long long)in->row.size, (long long)ev->input.offset);
		return problem_hint(p, "go on there: offset=%lld", (long long)in->row.size);
	}
	if ((int64_t)n > c->o.input_max - in->row.size) {
		problem_set(p, ERR_TOO_LARGE, "a task's input has at most %lld bytes",
		    (long long)c->o.input_max);
		return problem_hint(p, "limits.input of the server's configuration is that limit");
	}
	return 0;
}

static void store_parts(const struct input *in, struct str data, struct effects *out)
{
	struct arena *a = &out->batch.arena;
	int64_t at = in->row.size;

	while (data.n > 0) {
		struct input_part_row *p = arena_zalloc(a, sizeof *p);
		size_t n = data.n < INPUT_PART_BYTES ? data.n : INPUT_PART_BYTES;

		*p = (struct input_part_row){
		    in->row.task, at, arena_str(a, (struct str){data.p, n})};
		batch_put(&out->batch, &input_part_table, p);
		at += (int64_t)n;
		data.p += n;
		data.n -= n;
	}
}

int input_append(struct core *c, const struct event *ev, struct reply *r, struct effects *out)
{
	struct input *in = find(c, ev->input.task);
	bool only_asks = ev->input.offset < 0 && in && in->row.end != INPUT_DAMAGED;

	if (!only_asks && refuse(c, in, ev, r->problem) < 0)
		return r->problem->code;
	heard(c, in);
	r->id = ev->input.task;
	if (!only_asks && (ev->input.data.n > 0 || ev->input.end)) {
		store_parts(in, ev->input.data, out);
		in->row.size += (int64_t)ev->input.data.n;
		if (ev->input.end)
			in->row.end = INPUT_ENDED;
		if (!MUTANT(INPUT_NOT_COUNTED))
			save(in, out);
		heard(c, in);
		feed(c, in, out);
	}
	r->input = (struct input_standing){
	    in->row.size, in->taken, in->row.end == INPUT_ENDED, c->o.input_silence_ms};
	return 0;
}
