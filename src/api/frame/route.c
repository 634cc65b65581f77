/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of the interface in one list, and how a path finds its route in it. */
#include "api/frame/route.h"

#include <string.h>

const char *const method_names[N_API_METHODS] = {"GET", "POST", "PUT", "PATCH", "DELETE"};

const struct query_info query_infos[N_QUERY] = {
#define X(id, name, schema, about, many) [id] = {name, schema, about, many},
    QUERY_TABLE(X)
#undef X
};

static const struct section *const sections[] = {
#define X(name) &name##_section,
    SECTION_TABLE(X)
#undef X
};

const struct section *section_at(size_t i)
{
	return i < sizeof sections / sizeof sections[0] ? sections[i] : NULL;
}

const struct route *route_at(size_t i)
{
	for (size_t k = 0; k < sizeof sections / sizeof sections[0]; i -= sections[k++]->n_routes)
		if (i < sections[k]->n_routes)
			return &sections[k]->routes[i];
	return NULL;
}

static bool has(const struct section *p, const struct route *r)
{
	return p->n_routes && r >= p->routes && r < p->routes + p->n_routes;
}

size_t route_number(const struct route *r)
{
	size_t before = 0;

	for (size_t k = 0; k < sizeof sections / sizeof sections[0];
	     before += sections[k++]->n_routes)
		if (r && has(sections[k], r))
			return before + (size_t)(r - sections[k]->routes);
	return before;
}

static bool take_text(const char **pattern, struct str *path)
{
	size_t n = strcspn(*pattern, "{");

	if (path->n < n || (n && memcmp(path->p, *pattern, n) != 0))
		return false;
	*pattern += n;
	*path = (struct str){path->p + n, path->n - n};
	return true;
}

static bool take_arg(const char **pattern, struct str *path, bool all, struct str *ret_arg)
{
	const char *slash = path->n && !all ? memchr(path->p, '/', path->n) : NULL;
	size_t n = slash ? (size_t)(slash - path->p) : path->n;

	*ret_arg = (struct str){path->p, n};
	*pattern = strchr(*pattern, '}') + 1;
	*path = (struct str){path->p + n, path->n - n};
	return n > 0;
}

/* A name may hold slashes: what is last in the path takes them. */
static bool pattern_fits(const char *pattern, struct str path, struct str args[ROUTE_ARGS])
{
	struct str found[ROUTE_ARGS] = {STR_NULL, STR_NULL};
	int n = 0;

	for (;; n++) {
		if (!take_text(&pattern, &path))
			return false;
		if (!*pattern)
			break;
		if (n == ROUTE_ARGS || !take_arg(&pattern, &path, n > 0, &found[n]))
			return false;
	}
	if (path.n)
		return false;
	if (n)
		memcpy(args, found, sizeof found);
	return true;
}

const struct route *route_find(
    enum api_method m, struct str path, struct str ret_args[ROUTE_ARGS], unsigned *ret_allowed)
{
	*ret_allowed = 0;
	ret_args[0] = ret_args[1] = STR_NULL;
	if (path.n > 1 && path.p[path.n - 1] == '/')
		path.n--;
	for (size_t k = 0; k < sizeof sections / sizeof sections[0]; k++)
		for (size_t i = 0; i < sections[k]->n_routes; i++) {
			const struct route *r = &sections[k]->routes[i];

			/* fixed paths stand before those with an argument, and win for every
			 * method */
			if (*ret_allowed && strchr(r->pattern, '{') && !ret_args[0].p)
				return NULL;
			if (!pattern_fits(r->pattern, path, ret_args))
				continue;
			if (r->method == m)
				return r;
			*ret_allowed |= 1u << r->method;
		}
	return NULL;
}
