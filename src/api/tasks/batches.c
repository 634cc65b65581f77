/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches of tasks: one, or the newest ones, each with how its tasks stand. That is counted when it
 * is asked for, so a page ends when it has counted enough. For whoever has limits only the tasks
 * within them count, and a batch without any is not there.
 */
#include "api/frame/shapes.h"
#include "api/objects/show.h"
#include "model/limits.h"
#include "wire/json/json_in.h"

#define RECENT_MS 60000
#define COUNT_MOST 1000000 /* tasks for one page, more or less */
#define LOOK_MOST 1000     /* batches looked at for one page: a limited token may see few */
#define STEP 100           /* of them read at a time */
#define NAMESAKES_MOST 10  /* looked at for a token with limits */
#define NO_BATCH ((rid)1 << 62)

struct stand { /* a batch as it stands */
	struct task_batch_row row;
	struct pace_count *counts;
	size_t n_counts;
	int64_t total;
	bool id_is_task;
};

struct batches {
	struct call *c;
	struct task_filter filter; /* what the caller may see */
	struct batch_query query;
	struct stand *found;
	size_t n_found, cap;
	int64_t counted, looked, read;
	uint32_t limit;
	rid next;
	int64_t now_ms;
};

static int64_t sum(const struct stand *s, bool (*is)(int status))
{
	int64_t n = 0;

	for (size_t i = 0; i < s->n_counts; i++)
		n += is(s->counts[i].status) ? s->counts[i].n : 0;
	return n;
}

static bool is_failed(int status)
{
	return status == TASK_FAILED || status == TASK_TERMINATED || status == TASK_ORPHANED;
}

static bool is_dispatched(int status)
{
	return status == TASK_CLAIMED || status == TASK_RUNNING;
}

/* Counts its tasks, and says whether the caller may know of it. */
static int look_at(struct store_reader *r, struct batches *b, struct stand *s, bool *ret_is_seen)
{
	struct arena *a = &b->c->arena;
	struct task_row first;
	int rc;

	b->filter.batch = s->row.id;
	rc = store_task_pace(r, &b->filter, b->now_ms - RECENT_MS, a, &s->counts, &s->n_counts);
	for (size_t i = 0; i < s->n_counts; i++)
		s->total += s->counts[i].n;
	b->counted += s->row.n_tasks + s->total;
	*ret_is_seen = s->total || !b->c->who.limit;
	if (rc == 0 && s->row.is_old)
		s->id_is_task = read_bare_task(r, s->row.id, a, &first) == 0 && first.id;
	return rc;
}

static int add(struct store_reader *r, struct batches *b, const struct task_batch_row *row)
{
	struct stand s = {.row = *row};
	bool is_seen;
	int rc = look_at(r, b, &s, &is_seen);

	b->looked++;
	if (rc || !is_seen)
		return rc;
	b->found = arena_room(&b->c->arena, b->found, b->n_found, &b->cap, sizeof *b->found);
	b->found[b->n_found++] = s;
	return 0;
}

static bool is_enough(const struct batches *b)
{
	return b->n_found >= b->limit || b->counted >= COUNT_MOST || b->looked >= LOOK_MOST;
}

/* Newest first, until there are enough. */
static void read_list(struct store_reader *r, void *arg)
{
	struct batches *b = ((struct call *)arg)->state;
	struct call *c = b->c;
	struct batch_page page = {.n = 0};
	size_t i = 0;

	b->query.limit = STEP;
	for (c->code = 0; c->code == 0 && !is_enough(b);) {
		if (i == page.n) {
			if (i && i < STEP)
				return; /* there are no more */
			i = 0;
			c->code = store_batch_list(r, &b->query, &c->arena, &page);
			if (c->code || !page.n)
				return;
			b->read += (int64_t)page.n;
		}
		b->query.before = page.rows[i].id;
		c->code = add(r, b, &page.rows[i++]);
	}
	b->next = b->query.before;
}

static void read_one(struct store_reader *r, void *arg)
{
	struct batches *b = ((struct call *)arg)->state;
	struct call *c = b->c;
	struct task_batch_row row;

	if (!c->about) { /* by its name: the newest that the caller may see */
		b->limit = c->who.limit ? NAMESAKES_MOST : 1;
		read_list(r, arg);
	} else {
		c->code = store_batch_get(r, c->about, &c->arena, &row);
		if (c->code == 0)
			c->code = add(r, b, &row);
	}
	if (c->code == 0 && !b->n_found)
		c->code = ERR_NOT_FOUND;
}

/* Tasks that ended a second: of late, or over all if it is over. */
static double rate_of(const struct stand *s, int64_t now_ms, int64_t ended_ms)
{
	int64_t n = 0, span_ms = now_ms - s->row.ctime_ms;

	if (ended_ms) {
		n = s->total;
		span_ms = ended_ms - s->row.ctime_ms;
	}
	for (size_t i = 0; i < s->n_counts && !ended_ms; i++)
		n += task_is_ended(s->counts[i].status) ? s->counts[i].n_since : 0;
	if (!ended_ms && span_ms > RECENT_MS)
		span_ms = RECENT_MS;
	return span_ms > 0 ? (double)n * 1000 / (double)span_ms : 0;
}

static int64_t last_end_ms(const struct stand *s)
{
	int64_t last = 0;

	for (size_t i = 0; i < s->n_counts; i++)
		if (s->counts[i].last_ms > last)
			last = s->counts[i].last_ms;
	return last;
}

/* Statuses that share a name (held, finished) are neighbours in the ascending list. */
static void show_states(struct buf *b, const struct stand *s)
{
	int64_t same = 0;

	jw_key(b, "states");
	jw_open(b, '{');
	for (size_t i = 0; i < s->n_counts; i++) {
		const struct pace_count *n = &s->counts[i];
		const char *name = task_state_name(n->status);

		same += n->n;
		if (i + 1 < s->n_counts && task_state_name(n[1].status) == name)
			continue;
		jw_mi64(b, name, same);
		same = 0;
	}
	jw_close(b, '}');
}

static void show_pace(struct buf *b, const struct stand *s, int64_t live, int64_t now_ms)
{
	int64_t ended_ms = live || !s->total ? 0 : last_end_ms(s);
	double rate = rate_of(s, now_ms, ended_ms);

	jw_key(b, "rate");
	buf_printf(b, "%.3f", rate);
	jw_mi64_null(
	    b, "left_ms", rate > 0 ? (int64_t)((double)live * 1000 / rate) : 0, live && rate > 0);
	jw_mtime_null(b, "ended", ended_ms);
}

/* How many others have the name that was asked for, as far as the caller may see them. */
static int64_t namesakes(const struct batches *b)
{
	return (b->c->who.limit ? (int64_t)b->n_found : b->read) - 1;
}

static void show_batch(const struct batches *bs, const struct stand *s)
{
	struct call *c = bs->c;
	struct buf *b = &c->out;
	int64_t done = sum(s, task_is_ended);
	/* what others have in it is nobody's business */
	int64_t tasks = c->who.limit || s->row.is_old ? s->total : s->row.n_tasks;

	jw_open(b, '{');
	jw_mid_null(b, "id", c->host->ids, s->row.id);
	jw_mstr_null(b, "name", s->row.name);
	jw_mtime_null(b, "ctime", s->row.ctime_ms);
	jw_mstr_null(b, "actor", s->row.actor);
	jw_mi64(b, "tasks", tasks);
	jw_mi64(b, "total", s->total);
	show_states(b, s);
	jw_mi64(b, "done", done);
	jw_mi64(b, "live", s->total - done);
	jw_mi64(b, "running", sum(s, is_dispatched));
	jw_mi64(b, "failed", sum(s, is_failed));
	show_pace(b, s, s->total - done, bs->now_ms);
	jw_mbool(b, "id_is_task", s->id_is_task);
	jw_mi64_null(b, "namesakes", namesakes(bs), bs->query.whole);
	jw_close(b, '}');
}

static void list_done(struct call *c)
{
	struct batches *b = c->state;

	if (call_read_failed(c))
		return;
	show_page_begin(c);
	for (size_t i = 0; i < b->n_found; i++)
		show_batch(b, &b->found[i]);
	show_page_end(c, b->next);
}

static struct batches *begin(struct call *c)
{
	struct batches *b = call_state(c, sizeof *b);

	b->c = c;
	b->now_ms = c->host->wall_ms(c->host->arg);
	b->limit = 1;
	scope_narrow(c, &b->filter);
	return b;
}

static void batches_list(struct call *c)
{
	struct batches *b = begin(c);

	if (!call_page(c, &b->query.before, &b->limit))
		return;
	b->query.name = arena_str(&c->arena, c->query[Q_NAME]);
	call_read_long(c, read_list, list_done);
}

static void one_done(struct call *c)
{
	struct batches *b = c->state;

	if (c->code == ERR_NOT_FOUND) {
		problem_set(&c->problem, ERR_NOT_FOUND, "there is no batch \"%.*s\"",
		    c->arg.n > 100 ? 100 : (int)c->arg.n, c->arg.p);
		problem_hint(&c->problem, "%s",
		    c->who.limit
		        ? "or it lies outside the limits of this token"
		        : "reeve batch ls shows the batches; one goes when its last task is "
		          "pruned");
		if (c->who.limit)
			access_refuse(c);
		else
			call_problem(c);
		return;
	}
	if (call_read_failed(c))
		return;
	show_batch(b, &b->found[0]);
	call_json(c, 200);
}

static void batch_get(struct call *c)
{
	struct batches *b = begin(c);

	if (!id_parse(c->host->ids, c->arg, &c->about))
		b->query =
		    (struct batch_query){.name = arena_str(&c->arena, c->arg), .whole = true};
	else if (!c->about)
		c->about = NO_BATCH; /* of another installation: it matches nothing */
	call_read_long(c, read_one, one_done);
}

static const struct route routes[] = {
    {API_GET, "/v1/batches", batches_list, "listBatches", "batches",
        "List batches of tasks, newest first, each with how it stands", PAGE | Q(Q_NAME), NULL,
        false, "BatchList", {200}, SCOPED, RIGHT_READ},
    {API_GET, "/v1/batches/{batch}", batch_get, "getBatch", "batches",
        "How a batch of tasks stands; by a name the newest that has it", 0, NULL, false, "Batch",
        {200}, SCOPED, RIGHT_READ},
};

static const struct field batch_shape[] = {ID("id", 0, "its id"),
    TEXT("name", NONE, "for people; it need not be the only one of that name"),
    TIME("ctime", 0, "when it was made"),
    FIELD_FOUND("actor", FIELD_TEXT, NONE, "who submitted it"),
    FIELD_FOUND("tasks", FIELD_I64, 0, "that were submitted to it so far"),
    FIELD_FOUND("total", FIELD_I64, 0, "of those, are still there"),
    OTHER("states", 0, "how many of its tasks are in each state",
        "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}}"),
    INT("done", 0, "tasks that have ended"), INT("live", 0, "tasks that have not"),
    INT("running", 0, "tasks that run"),
    FIELD_FOUND("failed", FIELD_I64, 0, "failed, terminated or orphaned"),
    FIELD_FOUND("rate", FIELD_OTHER, 0,
        "tasks that ended a second: in the last minute, or of one that is over in all its time",
        .schema = TYPE("number")),
    FIELD_FOUND("left_ms", FIELD_I64, NONE, "until all have ended, at this rate"),
    TIME("ended", NONE, "when the last of its tasks ended; null: some have not"),
    FIELD_FOUND("id_is_task", FIELD_BOOL, 0,
        "from before batches had ids of their own: the id is its first task's too"),
    FIELD_FOUND("namesakes", FIELD_I64, NONE,
        "others of the name that it was asked for by, up to 99; a limited token sees up to 9"),
    {NULL}};

static const struct schema schemas[] = {
    {"Batch", .fields = batch_shape},
    {"BatchList", .page_of = "Batch"},
};

const struct section batch_section = {
    .tag = "batches", SECTION_ROUTES(routes), SECTION_SCHEMAS(schemas)};
