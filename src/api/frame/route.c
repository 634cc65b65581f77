/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the interface in one list, and how a path finds its route in it. */
#include "api/frame/route.h"

#include <string.h>

const char *const method_names[N_API_METHODS] = {"GET", "POST", "PUT", "PATCH", "DELETE"};

const struct query_info query_infos[N_QUERY] = {
#define X(id, name, schema, about, many) [id] = {name, schema, about, many},
    QUERY_TABLE(X)
#undef X
};

static const struct part *const parts[] = {
#define X(name) &name##_part,
    PART_TABLE(X)
#undef X
};

const struct part *part_at(size_t i)
{
	return i < sizeof parts / sizeof parts[0] ? parts[i] : NULL;
}

const struct route *route_at(size_t i)
{
	for (size_t k = 0; k < sizeof parts / sizeof parts[0]; i -= parts[k++]->n_routes)
		if (i < parts[k]->n_routes)
			return &parts[k]->routes[i];
	return NULL;
}

static bool has(const struct part *p, const struct route *r)
{
	return p->n_routes && r >= p->routes && r < p->routes + p->n_routes;
}

size_t route_number(const struct route *r)
{
	size_t before = 0;

	for (size_t k = 0; k < sizeof parts / sizeof parts[0]; before += parts[k++]->n_routes)
		if (r && has(parts[k], r))
			return before + (size_t)(r - parts[k]->routes);
	return before;
}

/* "{…}" stands for one segment that is not empty. */
static bool pattern_fits(const char *pattern, struct str path, struct str *ret_arg)
{
	const char *open = strchr(pattern, '{'), *close, *slash;
	size_t before = open ? (size_t)(open - pattern) : 0;
	struct str arg;

	if (!open)
		return str_is(path, pattern);
	if (path.n <= before || memcmp(path.p, pattern, before) != 0)
		return false;
	close = strchr(open, '}') + 1;
	arg = (struct str){path.p + before, path.n - before};
	slash = memchr(arg.p, '/', arg.n);
	if (slash)
		arg.n = (size_t)(slash - arg.p);
	path = (struct str){arg.p + arg.n, path.n - before - arg.n};
	if (arg.n == 0 || !str_is(path, close))
		return false;
	*ret_arg = arg;
	return true;
}

const struct route *route_find(
    enum api_method m, struct str path, struct str *ret_arg, unsigned *ret_allowed)
{
	*ret_allowed = 0;
	*ret_arg = STR_NULL;
	if (path.n > 1 && path.p[path.n - 1] == '/')
		path.n--;
	for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++)
		for (size_t i = 0; i < parts[k]->n_routes; i++) {
			const struct route *r = &parts[k]->routes[i];

			/* fixed paths stand before those with an argument, and win for every
			 * method */
			if (*ret_allowed && strchr(r->pattern, '{') && !ret_arg->p)
				return NULL;
			if (!pattern_fits(r->pattern, path, ret_arg))
				continue;
			if (r->method == m)
				return r;
			*ret_allowed |= 1u << r->method;
		}
	return NULL;
}
