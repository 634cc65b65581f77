/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instances of a service: one row for each index, whatever records there are. Of an instance
 * that moves there are two; readers are told of the one that matters more.
 */
#include "api/frame/fields_out.h"
#include "api/services/services.h"
#include "model/lines.h"

struct instance_shown {
	const struct instance_view *v;
	struct str service;
};

static void put_instance(struct buf *b, const void *arg)
{
	const struct instance_shown *s = arg;

	jw_open(b, '"');
	jw_text(b, s->service);
	buf_printf(b, "/%lld\"", (long long)s->v->row.index);
}

static void put_state(struct buf *b, const void *arg)
{
	jw_str(b, str_of(instance_row_states[((const struct instance_shown *)arg)->v->row.state]));
}

static void put_presence(struct buf *b, const void *arg)
{
	const struct instance_row *r = &((const struct instance_shown *)arg)->v->row;

	jw_str(b, str_of(instance_row_presences[r->presence]));
}

static void put_text(struct buf *b, struct str text)
{
	if (text.p)
		jw_str(b, text);
	else
		jw_null(b);
}

static void put_worker(struct buf *b, const void *arg)
{
	put_text(b, ((const struct instance_shown *)arg)->v->worker);
}

static void put_zone(struct buf *b, const void *arg)
{
	put_text(b, ((const struct instance_shown *)arg)->v->zone);
}

static void put_ports(struct buf *b, const void *arg)
{
	struct str rest = ((const struct instance_shown *)arg)->v->row.ports, port;

	jw_open(b, '[');
	while (lines_next(&rest, &port))
		jw_raw(b, port);
	jw_close(b, ']');
}

static void put_ready(struct buf *b, const void *arg)
{
	jw_bool(b, ((const struct instance_shown *)arg)->v->row.ready_ms);
}

static void put_routed(struct buf *b, const void *arg)
{
	jw_bool(b, ((const struct instance_shown *)arg)->v->is_routed);
}

static void put_restarts(struct buf *b, const void *arg)
{
	const struct instance_view *v = ((const struct instance_shown *)arg)->v;

	if (v->restarts)
		jw_time(b, v->restarts_ms);
	else
		jw_null(b);
}

static void put_waits(struct buf *b, const void *arg)
{
	put_text(b, ((const struct instance_shown *)arg)->v->waits_for);
}

static const struct field_out found[] = {{"instance", put_instance}, {"state", put_state},
    {"presence", put_presence}, {"worker", put_worker}, {"zone", put_zone}, {"ports", put_ports},
    {"ready", put_ready}, {"routed", put_routed}, {"restarts", put_restarts},
    {"waits_for", put_waits}, {NULL}};

static void show(struct call *c, const struct instance_view *v)
{
	const struct instance_shown shown = {v, core_name(c->host->core, KIND_SERVICE, c->about)};
	const struct showing s = {c->host->ids, &v->row, found, &shown, true};

	jw_open(&c->out, '{');
	fields_write(&c->out, &s, instance_fields);
	jw_close(&c->out, '}');
}

/* Traffic goes to it; it runs; it is the one that stays. */
static int weight(const struct instance_view *v)
{
	bool runs = v->row.state == 2; /* RUNNING */

	return v->is_routed * 4 + runs * 2 + (v->row.presence == 0);
}

/* The records of one index are side by side. Returns how many these are. */
static size_t choose(
    const struct instance_view *v, size_t n, const struct instance_view **ret_chosen)
{
	size_t i = 1;

	*ret_chosen = v;
	for (; i < n && v[i].row.index == v->row.index; i++)
		if (weight(&v[i]) > weight(*ret_chosen))
			*ret_chosen = &v[i];
	return i;
}

static bool find(struct call *c)
{
	c->about = find_object(c, KIND_SERVICE, c->arg, "service", &c->problem);
	if (c->about)
		return true;
	call_problem(c);
	return false;
}

static void end_page(struct call *c, int64_t next)
{
	jw_close(&c->out, ']');
	jw_key(&c->out, "next");
	if (next >= 0)
		buf_printf(&c->out, "\"%lld\"", (long long)next);
	else
		jw_null(&c->out);
	jw_close(&c->out, '}');
	call_json(c, 200);
}

void services_instances(struct call *c)
{
	const struct instance_view *chosen;
	struct instance_view *v;
	int64_t from = 0, next = -1;
	uint32_t limit;
	size_t n, most;

	if (!find(c) || !call_limit(c, &limit) ||
	    !call_int(c, Q_CURSOR, 0, SERVICE_INSTANCES_OF_ONE, &from))
		return;
	most = ((size_t)limit + 1) * INSTANCE_PRESENCES;
	n = core_service_instances(c->host->core, c->about, from, 0, most, &c->arena, &v);
	show_page_begin(c);
	for (size_t i = 0; i < n && next < 0;) {
		size_t k = choose(&v[i], n - i, &chosen);

		if (limit-- == 0 || c->out.n > PAGE_BYTES)
			next = v[i].row.index;
		else
			show(c, chosen);
		i += k;
	}
	end_page(c, next);
}

static bool no_instance(struct call *c, const char *field, struct str text)
{
	problem_set(&c->problem, ERR_NOT_FOUND, "the service has no instance \"%.*s\"",
	    text.n > 20 ? 20 : (int)text.n, text.p ? text.p : "");
	problem_hint(&c->problem, "instances are numbered from 0");
	problem_field(&c->problem, field);
	call_problem(c);
	return false;
}

void services_instance(struct call *c)
{
	const struct instance_view *chosen;
	struct instance_view *v;
	int64_t index;
	size_t n;

	if (!find(c))
		return;
	if (!str_to_i64(c->args[1], 0, SERVICE_INSTANCES_OF_ONE, &index)) {
		no_instance(c, "index", c->args[1]);
		return;
	}
	n = core_service_instances(
	    c->host->core, c->about, index, 0, INSTANCE_PRESENCES, &c->arena, &v);
	if (!n || v->row.index != index) {
		no_instance(c, "index", c->args[1]);
		return;
	}
	choose(v, n, &chosen);
	show(c, chosen);
	call_json(c, 200);
}

void services_why(struct call *c)
{
	const struct api_host *h = c->host;
	struct str name;
	struct why *whys;
	int64_t index = -1;
	size_t n;

	if (!find(c) || !call_int(c, Q_INDEX, 0, SERVICE_INSTANCES_OF_ONE - 1, &index))
		return;
	n = index < 0 ? 0
	              : core_instance_why(h->core, c->about, index, h->wall_ms(h->arg),
	                    h->mono_ms(h->arg), &c->arena, &whys);
	if (!n) {
		no_instance(c, "index", c->query[Q_INDEX]);
		return;
	}
	name = core_name(h->core, KIND_SERVICE, c->about);
	jw_open(&c->out, '{');
	jw_mstr(&c->out, "service", name);
	jw_mi64(&c->out, "index", index);
	show_whys(&c->out, &c->arena, whys, n);
	jw_close(&c->out, '}');
	call_json(c, 200);
}
