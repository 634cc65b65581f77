/* SPDX-License-Identifier: Apache-2.0 */
/* Queues: all of them are in memory, so looking needs no store; changes are commands. */
#include "api/objects/resource.h"
#include "api/objects/show.h"
#include "api/tasks/task_in.h"
#include "model/limits.h"
#include "model/rows/row.h"
#include "wire/json/fields.h"

/*
 * A queue's environment may hold secrets, as a task's may. A token with labels would see others'
 * tasks in a queue's numbers. What was written into a queue is for tokens that name the queue.
 */
static unsigned shown_of(const struct call *c)
{
	const struct token_row *limit = c->who.limit;
	bool labels = limit && limit->labels.n, given = !labels || limit->queues.n;

	return (given ? SHOW_REASON : 0) | (labels ? 0 : SHOW_COUNTS) |
	       (given && access_sees(c, RIGHT_LOGS) ? SHOW_FULL : 0);
}

const struct queue_row *find_queue(
    const struct call *c, struct str text, const char *field, struct problem *p)
{
	return core_queue(c->host->core, find_object(c, KIND_QUEUE, text, field, p));
}

static bool queue_covers(const struct call *c, rid id)
{
	const struct queue_row *q = core_queue(c->host->core, id);

	return q && scope_covers_queue(c, q->name);
}

static void queue_hint(const struct call *c, struct str text, struct problem *p)
{
	AUTO(buf_release) struct buf name = {0};

	buf_add_typed(&name, text);
	if (!text.n)
		problem_hint(p, "reeve queue ls shows the queues");
	else if (c->who.limit)
		problem_hint(p, "or it lies outside the limits of this token");
	else
		problem_hint(p, "reeve queue create %s makes it", name.p);
}

static void queue_show(struct call *c, rid id)
{
	show_queue(&c->out, c->api, core_queue(c->host->core, id), shown_of(c));
}

struct change {
	struct queue_row row;
	uint64_t given;
	struct call *c;
};

static int set_env(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct change *k = arg;
	struct buf text = {0};
	int rc = env_in(v, field, &text, p);

	k->row.env = json_object_size(v) ? arena_str(&k->c->arena, buf_str(&text)) : STR_NULL;
	buf_release(&text);
	return rc;
}

static int set_run(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct change *k = arg;
	struct buf text = {0};
	int rc = run_in(v, field, &text, p);

	k->row.run = text.n ? arena_str(&k->c->arena, buf_str(&text)) : STR_NULL;
	buf_release(&text);
	return rc;
}

static const struct json_member own[] = {{"env", set_env}, {"run", set_run}, {NULL}};

/* Reads the members of a new or changed queue. */
static bool read_change(struct call *c, struct change *k)
{
	const struct fields_in r = {.arena = &c->arena,
	    .into = &k->row,
	    .problem = &c->problem,
	    .own = own,
	    .arg = k,
	    .row = &queue_table,
	    .given = &k->given};

	k->c = c;
	return call_fields(c, &r, queue_fields);
}

static void queue_create(struct call *c)
{
	struct change k = {0};
	struct event ev = {.kind = EV_CREATE, .object = {.kind = KIND_QUEUE, .row = &k.row}};

	queue_defaults(&k.row);
	if (!read_change(c, &k))
		return;
	ev.object.fields = k.given;
	if (k.given & ROW_BIT(queue_table, queue_row, name)) {
		call_command(c, &ev, resource_made);
		return;
	}
	problem_set(&c->problem, ERR_INVALID, "a queue needs a \"name\"");
	problem_field(&c->problem, "name");
	call_problem(c);
}

static void queue_patch(struct call *c)
{
	struct change k = {0};
	struct event ev = {.kind = EV_SET};

	if (!resource_begin(c, &ev) || !read_change(c, &k))
		return;
	ev.object.row = &k.row;
	ev.object.fields = k.given;
	if (k.given == 0)
		call_fail(c, ERR_INVALID, "nothing to change: the body names no setting");
	else
		call_command(c, &ev, resource_changed);
}

static const struct route routes[] = {
    {API_GET, "/v1/queues", resource_list, "listQueues", "queues", "List queues", PAGE, NULL, false,
        "QueueList", {200}, SCOPED, RIGHT_READ},
    {API_POST, "/v1/queues", queue_create, "createQueue", "queues", "Make a queue", 0,
        "QueueCreate", true, "Queue", {201}, 0, RIGHT_ADMIN},
    {API_GET, "/v1/queues/{queue}", resource_get, "getQueue", "queues", "One queue", 0, NULL, false,
        "Queue", {200}, ROUTE_ETAG | SCOPED, RIGHT_READ},
    {API_PATCH, "/v1/queues/{queue}", queue_patch, "changeQueue", "queues", "Change its settings",
        0, "QueueChange", true, "Queue", {200}, CHANGE, RIGHT_ADMIN},
    {API_DELETE, "/v1/queues/{queue}", resource_delete, "deleteQueue", "queues",
        "Delete it, its ended tasks and their output", Q(Q_FORCE), NULL, false, NULL, {204}, CHANGE,
        RIGHT_ADMIN},
    {API_POST, "/v1/queues/{queue}/pause", resource_pause, "pauseQueue", "queues",
        "Start nothing more from it", 0, "Pause", false, "Queue", {200}, CHANGE | SCOPED,
        RIGHT_OPERATE},
    {API_POST, "/v1/queues/{queue}/resume", resource_resume, "resumeQueue", "queues",
        "Start its tasks again", 0, NULL, false, "Queue", {200}, CHANGE | SCOPED, RIGHT_OPERATE},
};

static const struct schema schemas[] = {
    {"Queue", .fields = queue_fields},
    {"QueueList", .page_of = "Queue"},
    {"QueueCreate", .fields = queue_fields, .shape = SHAPE_CREATE},
    {"QueueChange", .fields = queue_fields, .shape = SHAPE_CHANGE},
};

static const struct resource resource = {
    .kind = KIND_QUEUE,
    .covers = queue_covers,
    .show = queue_show,
    .hint = queue_hint,
    .gone = "deleted",
    .holds_tasks = true,
};

const struct section queue_section = {
    .tag = "queues", SECTION_ROUTES(routes), SECTION_SCHEMAS(schemas), .resource = &resource};
