/* SPDX-License-Identifier: Apache-2.0 */
/* Domains: all of them are in memory, so looking needs no store; changes are commands. */
#include "api/frame/fields_out.h"
#include "api/services/services.h"
#include "model/rows/row.h"
#include "wire/json/fields.h"

struct domain_shown {
	const struct domain_row *row;
	const struct core *core;
	bool fresh;
};

static void put_fresh(struct buf *b, const void *arg)
{
	jw_bool(b, ((const struct domain_shown *)arg)->fresh);
}

static void put_until(struct buf *b, const void *arg)
{
	const struct domain_shown *s = arg;

	if (s->fresh && s->row->fresh_until_ms != DOMAIN_FOR_EVER)
		jw_time(b, s->row->fresh_until_ms);
	else
		jw_null(b);
}

static void put_services(struct buf *b, const void *arg)
{
	const struct domain_shown *s = arg;

	jw_i64(b, (int64_t)core_domain_services(s->core, s->row->name));
}

static const struct field_out found[] = {
    {"fresh", put_fresh}, {"fresh_until", put_until}, {"services", put_services}, {NULL}};

static void domain_show(struct call *c, rid id)
{
	const struct domain_row *row = core_domain(c->host->core, id);
	const struct domain_shown shown = {
	    row, c->host->core, domain_is_fresh(row, c->host->wall_ms(c->host->arg))};
	const struct showing s = {c->host->ids, row, found, &shown, true};

	jw_open(&c->out, '{');
	fields_write(&c->out, &s, domain_fields);
	jw_close(&c->out, '}');
}

struct change {
	struct domain_row row;
	uint64_t given;
};

static bool read_change(struct call *c, const struct field *fields, struct change *k)
{
	const struct fields_in r = {.arena = &c->arena,
	    .into = &k->row,
	    .problem = &c->problem,
	    .row = &domain_table,
	    .given = &k->given};

	return call_fields(c, &r, fields);
}

static void domain_create(struct call *c)
{
	struct change k = {0};
	struct event ev = {.kind = EV_CREATE, .object = {.kind = KIND_DOMAIN, .row = &k.row}};

	if (!read_change(c, domain_fields, &k))
		return;
	ev.object.fields = k.given;
	if (k.given & ROW_BIT(domain_table, domain_row, name)) {
		call_command(c, &ev, resource_made);
		return;
	}
	problem_set(&c->problem, ERR_INVALID, "a domain needs a \"name\"");
	problem_field(&c->problem, "name");
	call_problem(c);
}

static void domain_patch(struct call *c)
{
	struct change k = {0};
	struct event ev = {.kind = EV_SET};

	if (!resource_begin(c, &ev) || !read_change(c, domain_fields, &k))
		return;
	ev.object.row = &k.row;
	ev.object.fields = k.given;
	if (k.given == 0)
		call_fail(c, ERR_INVALID, "nothing to change: the body names no setting");
	else
		call_command(c, &ev, resource_changed);
}

/* The path has the name. */
static const struct field put_fields[] = {
    FIELD("ttl", FIELD_DURATION, domain_row, ttl_ms, .flags = FIELD_GIVEN | FIELD_NULL_GIVEN,
        .about = "fresh for so long after its owner has said so; null, or not there: for ever"),
    {NULL},
};

static void put_new(struct call *c, struct change *k)
{
	struct event ev = {.kind = EV_CREATE,
	    .object = {.kind = KIND_DOMAIN, .row = &k->row, .fields = row_settable(&domain_table)}};

	k->row.name = c->arg;
	if (name_check(c->arg, "domain", &c->problem))
		call_problem(c);
	else
		call_command(c, &ev, resource_made);
}

/* All that can be said of it is said, so that to say it again changes nothing. */
static void domain_put(struct call *c)
{
	struct change k = {0};
	struct event ev = {.kind = EV_SET};
	rid id;

	if (!read_change(c, put_fields, &k))
		return;
	if (!core_find(c->host->core, KIND_DOMAIN, c->arg) &&
	    !(id_parse(c->host->ids, c->arg, &id) && core_domain(c->host->core, id))) {
		put_new(c, &k);
		return;
	}
	if (!resource_begin(c, &ev))
		return;
	ev.object.row = &k.row;
	ev.object.fields = ROW_BIT(domain_table, domain_row, ttl_ms);
	call_command(c, &ev, resource_changed);
}

static void domain_fresh(struct call *c)
{
	resource_do(c, DOMAIN_FRESH);
}

static void domain_stale(struct call *c)
{
	resource_do(c, DOMAIN_STALE);
}

static void domain_hint(const struct call *c, struct str text, struct problem *p)
{
	AUTO(buf_release) struct buf name = {0};

	buf_add_typed(&name, text);
	if (text.n)
		problem_hint(p, "reeve domain set %s makes it", name.p);
	else
		problem_hint(p, "reeve domain ls shows the domains");
}

static const struct route routes[] = {
    {API_GET, "/v1/domains", resource_list, "listDomains", "domains", "List domains, by name",
        PAGE | Q(Q_NAME), NULL, false, "DomainList", {200}, 0, RIGHT_READ},
    {API_POST, "/v1/domains", domain_create, "createDomain", "domains", "Make a domain", 0,
        "DomainCreate", true, "Domain", {201}, 0, RIGHT_OPERATE},
    {API_GET, "/v1/domains/{domain}", resource_get, "getDomain", "domains", "One domain", 0, NULL,
        false, "Domain", {200}, ROUTE_ETAG, RIGHT_READ},
    {API_PUT, "/v1/domains/{domain}", domain_put, "putDomain", "domains",
        "Make it, or set all that can be set of it", 0, "DomainPut", false, "Domain", {200, 201},
        CHANGE, RIGHT_OPERATE},
    {API_PATCH, "/v1/domains/{domain}", domain_patch, "changeDomain", "domains",
        "Change its settings; they count from when its owner speaks next", 0, "DomainChange", true,
        "Domain", {200}, CHANGE, RIGHT_OPERATE},
    {API_DELETE, "/v1/domains/{domain}", resource_delete, "deleteDomain", "domains",
        "Delete it; its services stay, and nothing of them is surplus any more", 0, NULL, false,
        NULL, {204}, CHANGE, RIGHT_OPERATE},
    {API_POST, "/v1/domains/{domain}/fresh", domain_fresh, "freshDomain", "domains",
        "Say that its desired services are complete: surplus instances stop", 0, NULL, false,
        "Domain", {200}, CHANGE, RIGHT_OPERATE},
    {API_POST, "/v1/domains/{domain}/stale", domain_stale, "staleDomain", "domains",
        "Say that nobody knows whether they are complete: nothing is stopped as surplus", 0, NULL,
        false, "Domain", {200}, CHANGE, RIGHT_OPERATE},
};

static const struct schema schemas[] = {
    {"Domain", .fields = domain_fields},
    {"DomainList", .page_of = "Domain"},
    {"DomainCreate", .fields = domain_fields, .shape = SHAPE_CREATE},
    {"DomainChange", .fields = domain_fields, .shape = SHAPE_CHANGE},
    {"DomainPut", .fields = put_fields, .shape = SHAPE_CHANGE},
};

static const struct resource resource = {.kind = KIND_DOMAIN,
    .show = domain_show,
    .hint = domain_hint,
    .gone = "deleted",
    .by_name = true};

const struct section domain_section = {
    .tag = "domains", SECTION_ROUTES(routes), SECTION_SCHEMAS(schemas), .resource = &resource};
