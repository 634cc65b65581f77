/* SPDX-License-Identifier: Apache-2.0 */
/* Services and their revisions as JSON. */
#include <string.h>

#include "api/frame/fields_out.h"
#include "api/services/services.h"

struct service_shown {
	const struct api *a;
	const struct service_row *row;
	const struct service_view *v; /* NULL: only what people choose is shown */
	bool full;
};

static void put_routes(struct buf *b, const void *arg)
{
	const struct service_shown *s = arg;

	jw_raw(b, s->row->routes.n ? s->row->routes : STR("null"));
}

static void put_name_of_queue(struct buf *b, const struct api *a, rid queue)
{
	const struct queue_row *q = core_queue(a->host.core, queue);

	jw_str(b, q ? q->name : STR(SERVICE_QUEUE));
}

static void put_queue(struct buf *b, const void *arg)
{
	const struct service_shown *s = arg;

	put_name_of_queue(b, s->a, s->row->spec.queue);
}

/* A body may hold secrets, as a task's may. */
static void put_body(struct buf *b, struct str body, bool full)
{
	jw_raw(b, full && body.n ? body : STR("null"));
}

static void put_task(struct buf *b, const void *arg)
{
	const struct service_shown *s = arg;

	put_body(b, s->row->spec.body, s->full);
}

static void put_why(struct buf *b, const void *arg)
{
	jw_str(b, ((const struct service_shown *)arg)->v->deploy_why);
}

static const struct field *table_of(const char *name)
{
	const struct field *f = service_fields;

	while (strcmp(f->name, name) != 0 || !f->table)
		f++;
	return f->table;
}

static void put_deploy(struct buf *b, const void *arg)
{
	static const struct field_out found[] = {{"why", put_why}, {NULL}};
	const struct service_shown *shown = arg;
	const struct showing s = {shown->a->host.ids, shown->row, found, arg, true};

	jw_open(b, '{');
	fields_write(b, &s, table_of("deploy"));
	jw_close(b, '}');
}

static void put_counts(struct buf *b, const void *arg)
{
	static const char *const states[INSTANCE_STATES] = {
	    "unclaimed", "claimed", "running", "crashed"};
	const struct service_counts *n = &((const struct service_shown *)arg)->v->counts;

	jw_open(b, '{');
	for (int i = 0; i < INSTANCE_STATES; i++)
		jw_mi64(b, states[i], n->in[i]);
	jw_mi64(b, "ready", n->ready);
	jw_mi64(b, "unplaced", n->unplaced);
	for (int i = 1; i < INSTANCE_PRESENCES; i++)
		jw_mi64(b, instance_row_presences[i], n->beside[i]);
	jw_close(b, '}');
}

static void put_text(struct buf *b, struct str text)
{
	if (text.p)
		jw_str(b, text);
	else
		jw_null(b);
}

static void put_place_error(struct buf *b, const void *arg)
{
	put_text(b, ((const struct service_shown *)arg)->v->place_error);
}

static void put_crash_reason(struct buf *b, const void *arg)
{
	put_text(b, ((const struct service_shown *)arg)->v->crash_reason);
}

static const struct field_out found[] = {{"routes", put_routes}, {"queue", put_queue},
    {"task", put_task}, {"deploy", put_deploy}, {"counts", put_counts},
    {"place_error", put_place_error}, {"crash_reason", put_crash_reason}, {NULL}};

void service_show_listed(struct call *c, rid id, bool full)
{
	AUTO(arena_release) struct arena a = {0};
	struct service_view v;
	const struct service_shown shown = {c->api, &v.row, &v, full};
	const struct showing s = {c->host->ids, &v.row, found, &shown, full};

	if (!core_service(c->host->core, id, &a, &v))
		return;
	jw_open(&c->out, '{');
	fields_write(&c->out, &s, service_fields);
	jw_close(&c->out, '}');
}

void service_show(struct call *c, rid id)
{
	service_show_listed(c, id, access_sees(c, RIGHT_LOGS));
}

/* Members that requests may give, as they are shown. */
#define CHOSEN_MOST 32
static bool is_chosen(const struct field *f)
{
	if (!(f->flags & FIELD_SHOWN))
		return false;
	for (const struct field *g = service_fields; g->name; g++)
		if (g->flags & FIELD_GIVEN && strcmp(g->name, f->name) == 0)
			return true;
	return false;
}

void show_service_settings(struct buf *b, const struct api *a, const struct service_row *row)
{
	const struct service_shown shown = {a, row, NULL, true};
	const struct showing s = {a->host.ids, row, found, &shown, true};
	struct field chosen[CHOSEN_MOST] = {0};
	size_t n = 0;

	for (const struct field *f = service_fields; f->name; f++)
		if (is_chosen(f)) {
			MUST(n < CHOSEN_MOST - 1);
			chosen[n++] = *f;
		}
	jw_open(b, '{');
	fields_write(b, &s, chosen);
	jw_close(b, '}');
}

void show_spec(struct buf *b, const struct api *a, const struct service_spec *spec)
{
	jw_open(b, '{');
	jw_key(b, "queue");
	put_name_of_queue(b, a, spec->queue);
	jw_mi64(b, "ports", spec->n_ports);
	jw_mneed(b, "need", spec->need);
	jw_mlines(b, "needs", spec->needs);
	jw_key(b, "task");
	put_body(b, spec->body, true);
	jw_close(b, '}');
}

struct revision_shown {
	const struct revision_view *v;
	bool full;
};

static void put_revision_task(struct buf *b, const void *arg)
{
	const struct revision_shown *s = arg;

	put_body(b, s->v->row.spec.body, s->full);
}

static void put_revision_queue(struct buf *b, const void *arg)
{
	put_text(b, ((const struct revision_shown *)arg)->v->queue);
}

static void put_target(struct buf *b, const void *arg)
{
	jw_bool(b, ((const struct revision_shown *)arg)->v->is_target);
}

static void put_stable(struct buf *b, const void *arg)
{
	jw_bool(b, ((const struct revision_shown *)arg)->v->is_stable);
}

static void put_instances(struct buf *b, const void *arg)
{
	jw_i64(b, ((const struct revision_shown *)arg)->v->instances);
}

void show_revision(struct buf *b, const struct api *a, const struct revision_view *v, bool full)
{
	static const struct field_out of_revision[] = {{"task", put_revision_task},
	    {"queue", put_revision_queue}, {"target", put_target}, {"stable", put_stable},
	    {"instances", put_instances}, {NULL}};
	const struct revision_shown shown = {v, full};
	const struct showing s = {a->host.ids, &v->row, of_revision, &shown, full};

	jw_open(b, '{');
	fields_write(b, &s, revision_fields);
	jw_close(b, '}');
}
