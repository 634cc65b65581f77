/* SPDX-License-Identifier: Apache-2.0 */
/* Queues: all of them are in memory, so looking needs no store; changes are commands. */
#include "api/objects/resource.h"
#include "api/objects/show.h"
#include "api/tasks/task_in.h"
#include "model/limits.h"
#include "model/row.h"
#include "wire/json_in.h"

/*
 * Their environments may hold secrets, as tasks' may. To a token with labels their numbers are
 * those of others too; and what was written into them is for those whom they were given to.
 */
static unsigned shown_of(const struct call *c)
{
	const struct token_row *limit = c->who.limit;
	bool labels = limit && limit->labels.n, given = !labels || limit->queues.n;

	return (given ? SHOW_REASON : 0) | (labels ? 0 : SHOW_COUNTS) |
	       (given && access_sees(c, RIGHT_LOGS) ? SHOW_FULL : 0);
}

void queues_list(struct call *c)
{
	const struct queue_row *q = NULL;
	uint32_t limit;
	rid at;

	if (!call_page(c, &at, &limit))
		return;
	jw_open(&c->out, '{');
	jw_key(&c->out, "items");
	jw_open(&c->out, '[');
	while (limit > 0 && c->out.n < PAGE_BYTES &&
	       (q = core_queue(c->host->core, core_next(c->host->core, KIND_QUEUE, at)))) {
		at = q->id;
		if (!scope_covers_queue(c, q->name))
			continue;
		show_queue(&c->out, c->api, q, shown_of(c));
		limit--;
	}
	show_page_end(
	    c, q && core_queue(c->host->core, core_next(c->host->core, KIND_QUEUE, at)) ? at : 0);
}

bool queue_seek(struct call *c, int64_t *ret_version)
{
	const struct queue_row *q = find_queue(c, c->arg, "queue", &c->problem);

	if (!q) {
		call_problem(c);
		return false;
	}
	c->about = q->id;
	*ret_version = q->version;
	return true;
}

void queue_answer(struct call *c, rid id, int status)
{
	const struct queue_row *q = core_queue(c->host->core, id);

	if (!q) {
		call_fail(c, ERR_NOT_FOUND, "the queue was deleted in the meantime");
		return;
	}
	if (call_etag(c, q->version))
		return;
	show_queue(&c->out, c->api, q, shown_of(c));
	call_json(c, status);
}

struct change {
	struct queue_row row;
	uint64_t fields;
	struct call *c;
};

static struct change *took(void *arg, size_t offset)
{
	struct change *k = arg;

	k->fields |= row_bit(&queue_table, offset);
	return k;
}
#define TOOK(arg, member) took(arg, offsetof(struct queue_row, member))

static int set_name(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct change *k = TOOK(arg, name);

	if (json_in_str(v, field, NAME_MAX_BYTES, &k->row.name, p))
		return ERR_INVALID;
	return name_check(k->row.name, field, p);
}

static int set_plugin(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct change *k = TOOK(arg, plugin);

	if (json_in_str(v, field, NAME_MAX_BYTES, &k->row.plugin, p))
		return ERR_INVALID;
	return name_check(k->row.plugin, field, p);
}

static int set_threads(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct change *k = TOOK(arg, threads);
	int64_t n = -1;
	int rc = json_is_null(v) ? 0 : json_in_int(v, field, 0, THREADS_MAX, &n, p);

	k->row.threads = (int32_t)n;
	return rc;
}

static int choice(json_t *v, const char *field, int (*parse)(struct str s),
    const char *const *names, int n, int32_t *ret, struct problem *p)
{
	struct str text;
	const char *near;

	if (json_in_str(v, field, NAME_MAX_BYTES, &text, p))
		return ERR_INVALID;
	*ret = parse(text);
	if (*ret >= 0)
		return 0;
	near = str_nearest(text, names, (size_t)n);
	problem_set(p, ERR_INVALID, "\"%s\" is \"%.*s\"; %s, %s or %s is expected", field,
	    text.n > 64 ? 64 : (int)text.n, text.p, names[0], names[1], names[2]);
	if (near)
		problem_hint(p, "did you mean \"%s\"?", near);
	return problem_field(p, field);
}

static int set_order(json_t *v, const char *field, void *arg, struct problem *p)
{
	return choice(v, field, queue_order_parse, queue_order_names, N_ORDERS,
	    &TOOK(arg, order)->row.order, p);
}

static int set_output(json_t *v, const char *field, void *arg, struct problem *p)
{
	return choice(v, field, output_mode_parse, output_mode_names, N_OUTPUT_MODES,
	    &TOOK(arg, output_mode)->row.output_mode, p);
}

static int set_timeout(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct change *k = TOOK(arg, timeout_ms);

	k->row.timeout_ms = 0;
	return json_is_null(v) ? 0 : json_in_duration(v, field, &k->row.timeout_ms, p);
}

static int set_attempts(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct change *k = TOOK(arg, max_attempts);
	int64_t n = 0;
	int rc = json_in_int(v, field, 1, ATTEMPTS_MAX, &n, p);

	k->row.max_attempts = (int32_t)n;
	return rc;
}

static int set_backoff(json_t *v, const char *field, void *arg, struct problem *p)
{
	return json_in_duration(v, field, &TOOK(arg, backoff_ms)->row.backoff_ms, p);
}

static int set_backoff_max(json_t *v, const char *field, void *arg, struct problem *p)
{
	return json_in_duration(v, field, &TOOK(arg, backoff_max_ms)->row.backoff_max_ms, p);
}

static int set_exit_codes(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct change *k = TOOK(arg, exit_codes);
	bool on = false;
	int rc = json_in_bool(v, field, &on, p);

	k->row.exit_codes = on;
	return rc;
}

static int set_env(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct change *k = TOOK(arg, env);
	struct buf text = {0};
	int rc = env_in(v, field, &text, p);

	k->row.env = json_object_size(v) ? arena_str(&k->c->arena, buf_str(&text)) : STR_NULL;
	buf_release(&text);
	return rc;
}

static int set_run(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct change *k = TOOK(arg, run);
	struct buf text = {0};
	int rc = run_in(v, field, &text, p);

	k->row.run = text.n ? arena_str(&k->c->arena, buf_str(&text)) : STR_NULL;
	buf_release(&text);
	return rc;
}

static int set_output_max(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct change *k = TOOK(arg, output_max);

	return json_in_int(v, field, 0, INT64_MAX / 2, &k->row.output_max, p);
}

static const struct json_member members[] = {{"name", set_name}, {"plugin", set_plugin},
    {"threads", set_threads}, {"order", set_order}, {"timeout", set_timeout},
    {"max_attempts", set_attempts}, {"backoff", set_backoff}, {"backoff_max", set_backoff_max},
    {"exit_codes", set_exit_codes}, {"env", set_env}, {"run", set_run}, {"output", set_output},
    {"output_max", set_output_max}};

/* Reads the members of a new or changed queue; the strings live as long as *ret_body. */
static bool read_change(struct call *c, struct change *k, json_t **ret_body)
{
	k->c = c;
	if (!call_body(c, ret_body))
		return false;
	if (!json_in_members(
	        *ret_body, "", members, sizeof members / sizeof members[0], k, &c->problem))
		return true;
	json_decref(*ret_body);
	call_problem(c);
	return false;
}

void queue_create(struct call *c)
{
	struct change k = {0};
	struct event ev = {.kind = EV_CREATE, .object = {.kind = KIND_QUEUE, .row = &k.row}};
	json_t *body;

	queue_defaults(&k.row);
	if (!read_change(c, &k, &body))
		return;
	ev.object.fields = k.fields;
	if (k.fields & ROW_BIT(queue_table, queue_row, name)) {
		call_command(c, &ev, resource_made);
	} else {
		problem_set(&c->problem, ERR_INVALID, "a queue needs a \"name\"");
		problem_field(&c->problem, "name");
		call_problem(c);
	}
	json_decref(body);
}

void queue_patch(struct call *c)
{
	struct change k = {0};
	struct event ev = {.kind = EV_SET};
	json_t *body;

	if (!resource_begin(c, &ev) || !read_change(c, &k, &body))
		return;
	ev.object.row = &k.row;
	ev.object.fields = k.fields;
	if (k.fields == 0)
		call_fail(c, ERR_INVALID, "nothing to change: the body names no setting");
	else
		call_command(c, &ev, resource_changed);
	json_decref(body);
}
