/* SPDX-License-Identifier: Apache-2.0 */
/* The revisions of a service, and how two of them differ. */
#include "api/services/plan.h"

static bool find(struct call *c)
{
	c->about = find_object(c, KIND_SERVICE, c->arg, "service", &c->problem);
	if (c->about)
		return true;
	call_problem(c);
	return false;
}

/* The page goes on behind this revision. */
static bool read_place(struct call *c, int64_t *ret_below, uint32_t *ret_limit)
{
	*ret_below = INT64_MAX;
	return call_limit(c, ret_limit) && call_int(c, Q_CURSOR, 1, INT64_MAX, ret_below);
}

static void end_page(struct call *c, int64_t next)
{
	jw_close(&c->out, ']');
	jw_key(&c->out, "next");
	if (next)
		buf_printf(&c->out, "\"%lld\"", (long long)next);
	else
		jw_null(&c->out);
	jw_close(&c->out, '}');
	call_json(c, 200);
}

void services_revisions(struct call *c)
{
	struct revision_view *v;
	int64_t below, last = 0;
	uint32_t limit;
	size_t n, i = 0;

	if (!find(c) || !read_place(c, &below, &limit))
		return;
	n = core_service_revisions(c->host->core, c->about, &c->arena, &v);
	while (i < n && v[i].row.number >= below)
		i++;
	show_page_begin(c);
	for (; i < n && limit && c->out.n <= PAGE_BYTES; i++, limit--) {
		show_revision(&c->out, c->api, &v[i], access_sees(c, RIGHT_LOGS));
		last = v[i].row.number;
	}
	end_page(c, i < n ? last : 0);
}

static const struct revision_view *of_number(
    const struct revision_view *v, size_t n, int64_t number)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].row.number == number)
			return &v[i];
	return NULL;
}

static int64_t target_of(const struct revision_view *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].is_target)
			return v[i].row.number;
	return 0;
}

/* What all instances were healthy with; if that is what is compared, the one before it. */
static int64_t base_of(const struct revision_view *v, size_t n, int64_t to)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].is_stable && v[i].row.number != to)
			return v[i].row.number;
	for (size_t i = 0; i < n; i++) /* newest first */
		if (v[i].row.number < to)
			return v[i].row.number;
	return 0;
}

static bool there(struct call *c, const struct revision_view *v, int64_t number, const char *field)
{
	if (v)
		return true;
	problem_set(
	    &c->problem, ERR_NOT_FOUND, "the service has no revision %lld", (long long)number);
	problem_hint(&c->problem, "reeve service history shows those that are kept");
	problem_field(&c->problem, field);
	call_problem(c);
	return false;
}

static void write(struct call *c, const struct revision_view *from, const struct revision_view *to)
{
	AUTO(buf_release) struct buf x = {0}, y = {0};
	struct buf *b = &c->out;

	if (from)
		show_spec(&x, c->api, &from->row.spec);
	show_spec(&y, c->api, &to->row.spec);
	jw_open(b, '{');
	jw_mi64_null(b, "from", from ? from->row.number : 0, from);
	jw_mi64(b, "to", to->row.number);
	changes_write(b, &x, &y);
	jw_close(b, '}');
	call_json(c, 200);
}

void services_diff(struct call *c)
{
	const struct revision_view *from, *to;
	int64_t from_n = 0, to_n = 0;
	struct revision_view *v;
	size_t n;

	if (!find(c) || !call_int(c, Q_FROM, 1, INT64_MAX, &from_n) ||
	    !call_int(c, Q_TO, 1, INT64_MAX, &to_n))
		return;
	n = core_service_revisions(c->host->core, c->about, &c->arena, &v);
	to_n = to_n ? to_n : target_of(v, n);
	from_n = from_n ? from_n : base_of(v, n, to_n);
	from = of_number(v, n, from_n);
	to = of_number(v, n, to_n);
	if ((!from_n || there(c, from, from_n, "from")) && there(c, to, to_n, "to"))
		write(c, from, to);
}
