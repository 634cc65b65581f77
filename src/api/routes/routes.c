/* SPDX-License-Identifier: Apache-2.0 */
#include "api/routes/routes.h"

#include "api/frame/shapes.h"
#include "core/service/view.h"
#include "model/lines.h"

#define ROW_RUNNING 2 /* of instance_row_states */

static void take_ports(struct arena *a, struct str lines, struct route_instance *ret)
{
	struct str rest = lines, line;
	int32_t *ports = arena_alloc(a, (lines_count(lines) + 1) * sizeof *ports);
	int64_t port;

	while (lines_next(&rest, &line))
		if (str_to_i64(line, 1, 65535, &port))
			ports[ret->n_ports++] = (int32_t)port;
	ret->ports = ports;
}

static struct route_instance instance_of(
    const struct call *c, struct arena *a, const struct instance_view *v)
{
	struct route_instance r = {.index = (uint32_t)v->row.index,
	    .presence = (enum presence)v->row.presence,
	    .address = v->row.address,
	    .worker = v->worker,
	    .zone = v->zone,
	    .revision = v->row.revision,
	    .tag = (uint64_t)v->row.tag,
	    .is_ready = v->row.ready_ms,
	    .is_stopping = v->row.is_stopping};
	char text[ID_TEXT];

	if (v->row.task)
		r.id = arena_str(a, str_of(id_format(c->host->ids, v->row.task, text)));
	take_ports(a, v->row.ports, &r);
	return r;
}

#define PART_RECORDS 256

/* What is behind the last index of a full page goes with the next one, together. */
static size_t cut(const struct instance_view *v, size_t n, int64_t *ret_next)
{
	size_t kept = n;

	*ret_next = -1;
	if (n < PART_RECORDS)
		return n;
	*ret_next = v[n - 1].row.index;
	while (kept > 0 && v[kept - 1].row.index == *ret_next)
		kept--;
	return kept;
}

static void take_instances(
    const struct call *c, rid id, int64_t from, struct arena *a, struct route_part *part)
{
	struct instance_view *v;
	struct route_instance *all;
	size_t n = core_service_instances(c->host->core, id, from, 0, PART_RECORDS, a, &v);

	n = cut(v, n, &part->next);
	all = arena_alloc(a, (n + 1) * sizeof *all);
	for (size_t i = 0; i < n; i++)
		if (v[i].row.state == ROW_RUNNING)
			all[part->service.n++] = instance_of(c, a, &v[i]);
	part->service.instances = all;
}

static bool take_head(const struct call *c, rid id, struct arena *a, struct route_service *ret)
{
	struct str domain = c->query[Q_DOMAIN];
	struct service_view v;

	if (!core_service(c->host->core, id, a, &v) || (domain.p && !str_eq(v.row.domain, domain)))
		return false;
	*ret = (struct route_service){.name = v.row.name,
	    .domain = v.row.domain,
	    .routes = v.row.routes,
	    .labels = v.row.labels,
	    .tag = (uint64_t)v.row.tag};
	return true;
}

bool routes_part(
    const struct call *c, rid id, int64_t from, struct arena *a, struct route_part *ret)
{
	*ret = (struct route_part){.next = -1};
	if (from == 0 && !take_head(c, id, a, &ret->service))
		return false;
	if (from > 0)
		ret->service.name = arena_str(a, core_name(c->host->core, KIND_SERVICE, id));
	if (!ret->service.name.p)
		return false;
	take_instances(c, id, from, a, ret);
	return true;
}

static unsigned long long process_of(const struct call *c)
{
	return (unsigned long long)c->api->opt.facts.started_ms;
}

void routes_place(const struct call *c, uint64_t tag, struct buf *b)
{
	buf_printf(b, "%llu-%llx", (unsigned long long)tag, process_of(c));
}

uint64_t routes_place_in(const struct call *c, struct str text)
{
	AUTO(buf_release) struct buf same = {0};
	struct str rest = text, tag;
	int64_t n;

	if (!text.n || !str_next(&rest, '-', &tag) || !str_to_i64(tag, 0, INT64_MAX, &n))
		return 0;
	routes_place(c, (uint64_t)n, &same);
	return str_eq(buf_str(&same), text) ? (uint64_t)n : 0;
}

static const struct field state_shape[] = {INT("tag", 0, "of the last change of all"),
    TEXT("next", 0, "where the stream goes on: its cursor"),
    OTHER("services", 0, "by name, each as docs/SERVICES.md says", ARRAY(TYPE("object"))), {NULL}};

static const struct schema schemas[] = {
    {"RoutesState", .fields = state_shape},
    {"PrometheusTargets", ARRAY(TYPE("object"))},
};

static const struct route routes[] = {
    {API_GET, "/v1/routes", routes_get, "getRoutes", "routes",
        "Services with what their owners say about traffic, and their instances that run",
        Q(Q_DOMAIN), NULL, false, "RoutesState", {200}, 0, RIGHT_READ},
    {API_GET, "/v1/routes/stream", routes_stream, "streamRoutes", "routes",
        "The same as it changes, as server-sent events", Q(Q_DOMAIN) | Q(Q_CURSOR), NULL, false,
        "text/event-stream", {200}, 0, RIGHT_READ},
    {API_GET, "/v1/routes/prometheus", routes_prometheus, "getRoutesForPrometheus", "routes",
        "Every port of every instance that runs, as Prometheus discovers them over HTTP",
        Q(Q_DOMAIN), NULL, false, "PrometheusTargets", {200}, 0, RIGHT_READ},
};

const struct section routes_section = {
    .tag = "routes", SECTION_ROUTES(routes), SECTION_SCHEMAS(schemas)};
