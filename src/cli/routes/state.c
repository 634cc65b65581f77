/* SPDX-License-Identifier: Apache-2.0 */
/* The state of routes: checked member by member, and put into an order that tags do not change. */
#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "cli/routes/routes.h"
#include "service/limits.h"
#include "service/routes/routes.h"

struct state_reading {
	const char *service; /* NULL: none yet */
	size_t nth;
	struct problem *p;
};

__attribute__((format(printf, 2, 3))) static int wrong(
    const struct state_reading *x, const char *fmt, ...)
{
	char what[160];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof what, fmt, args);
	va_end(args);
	if (!x->service)
		return problem_set(x->p, ERR_INVALID, "the state of routes: %s", what);
	return problem_set(
	    x->p, ERR_INVALID, "the state of routes: service %.100s: %s", x->service, what);
}

static bool is_name(const json_t *v, size_t max)
{
	const char *s = json_string_value(v);
	size_t n = s ? json_string_length(v) : 0;

	for (size_t i = 0; i < n; i++)
		if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f)
			return false;
	return n > 0 && n <= max;
}

static int read_text(
    const struct state_reading *x, const json_t *o, const char *name, struct str *ret)
{
	const json_t *v = json_object_get(o, name);

	*ret = STR_NULL;
	if (!v || json_is_null(v))
		return 0;
	if (!is_name(v, 255))
		return wrong(x, "%s must be a text of 1 to 255 bytes", name);
	*ret = (struct str){json_string_value(v), json_string_length(v)};
	return 0;
}

static int read_whole(const struct state_reading *x, const json_t *o, const char *name, int64_t max,
    bool is_needed, int64_t *ret)
{
	const json_t *v = json_object_get(o, name);

	*ret = 0;
	if (!v && !is_needed)
		return 0;
	if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) > max)
		return wrong(x, "%s must be a whole number from 0 to %lld", name, (long long)max);
	*ret = json_integer_value(v);
	return 0;
}

static int read_flag(const struct state_reading *x, const json_t *o, const char *name, bool *ret)
{
	const json_t *v = json_object_get(o, name);

	*ret = json_is_true(v);
	return !v || json_is_boolean(v) ? 0 : wrong(x, "%s must be true or false", name);
}

static int read_presence(const struct state_reading *x, const json_t *o, enum presence *ret)
{
	const json_t *v = json_object_get(o, "presence");

	*ret = PRESENCE_ORDINARY;
	if (!v)
		return 0;
	for (int i = 0; i < N_PRESENCES; i++)
		if (json_is_string(v) && !strcmp(json_string_value(v), presence_names[i])) {
			*ret = (enum presence)i;
			return 0;
		}
	return wrong(x, "presence must be ordinary, evacuating or suspect");
}

static int read_ports(const struct state_reading *x, json_t *o, size_t *ret_n)
{
	json_t *ports = json_object_get(o, "ports"), *port;
	size_t i;

	*ret_n = json_array_size(ports);
	if (ports && (!json_is_array(ports) || *ret_n > ROUTES_PORTS_MAX))
		return wrong(x, "ports must be a list of at most %d", ROUTES_PORTS_MAX);
	json_array_foreach(ports, i, port)
	{
		if (!value_passes(port, TEST_PORT))
			return wrong(x, "ports must be whole numbers from 1 to 65535");
	}
	if (*ret_n)
		json_object_set(o, "port", json_array_get(ports, 0));
	return 0;
}

static int read_instance(const struct state_reading *x, json_t *o, struct route_instance *ret)
{
	struct route_instance i = {0};
	int64_t index = 0, tag = 0;
	int rc = 0;

	if (!json_is_object(o))
		return wrong(x, "an instance must be an object");
	rc = read_whole(x, o, "index", INT32_MAX, true, &index);
	if (rc == 0)
		rc = read_whole(x, o, "tag", INT64_MAX, false, &tag);
	if (rc == 0)
		rc = read_presence(x, o, &i.presence);
	if (rc == 0)
		rc = read_text(x, o, "address", &i.address);
	if (rc == 0 && i.address.n && !is_host(i.address))
		rc = wrong(x, "address must be an IP address or the name of a host");
	if (rc == 0)
		rc = read_ports(x, o, &i.n_ports);
	if (rc == 0)
		rc = read_flag(x, o, "ready", &i.is_ready);
	if (rc == 0)
		rc = read_flag(x, o, "stopping", &i.is_stopping);
	i.index = (uint32_t)index;
	*ret = i;
	return rc;
}

/* --- order --- */

static int by_index(const void *a, const void *b)
{
	const struct route_instance *x = a, *y = b;

	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return x->presence < y->presence ? -1 : x->presence > y->presence;
}

static int by_name(const void *a, const void *b)
{
	const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;

	return strcmp(json_string_value(json_object_get(x, "name")),
	    json_string_value(json_object_get(y, "name")));
}

static int by_json_index(const void *a, const void *b)
{
	json_t *const *x = a, *const *y = b;
	int64_t i = json_integer_value(json_object_get(*x, "index"));
	int64_t k = json_integer_value(json_object_get(*y, "index"));
	const char *p = json_string_value(json_object_get(*x, "presence"));
	const char *q = json_string_value(json_object_get(*y, "presence"));

	if (i != k)
		return i < k ? -1 : 1;
	/* "ordinary" is what is not said, and stands before the others. */
	p = !p || !strcmp(p, "ordinary") ? "" : p;
	q = !q || !strcmp(q, "ordinary") ? "" : q;
	return strcmp(p, q);
}

static void sort(json_t *list, int (*by)(const void *, const void *))
{
	size_t n = json_array_size(list);
	json_t **v = xcalloc(n + 1, sizeof *v);

	for (size_t i = 0; i < n; i++)
		v[i] = json_incref(json_array_get(list, i));
	qsort(v, n, sizeof *v, by);
	json_array_clear(list);
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, v[i]);
	free(v);
}

/* --- services --- */

static int check_keys(const struct state_reading *x, const struct route_service *s)
{
	for (size_t i = 1; i < s->n; i++)
		if (by_index(&s->instances[i - 1], &s->instances[i]) == 0)
			return wrong(x, "index %u has two %s instances", s->instances[i].index,
			    presence_names[s->instances[i].presence]);
	return 0;
}

/* The list is in the order of the structs. */
static void mark(json_t *o, json_t *list, const struct route_service *s)
{
	json_t *routed = json_array(), *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		bool is_routed = route_is_routed(s, i);

		json_object_set_new(one, "routed", json_boolean(is_routed));
		if (is_routed)
			json_array_append(routed, one);
	}
	json_object_set_new(o, "routed", routed);
}

static int read_instances(const struct state_reading *x, json_t *o, json_t *list)
{
	struct route_instance *v = xcalloc(json_array_size(list) + 1, sizeof *v);
	struct route_service s = {.instances = v, .n = json_array_size(list)};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < s.n; i++)
		rc = read_instance(x, json_array_get(list, i), &v[i]);
	if (rc == 0) {
		sort(list, by_json_index);
		qsort(v, s.n, sizeof *v, by_index);
		rc = check_keys(x, &s);
	}
	if (rc == 0)
		mark(o, list, &s);
	free(v);
	return rc;
}

static int read_service(struct state_reading *x, json_t *o)
{
	json_t *list = json_object_get(o, "instances");
	struct str text;
	int64_t tag;
	int rc;

	x->service = NULL;
	if (!json_is_object(o) || !is_name(json_object_get(o, "name"), SERVICE_NAME_MAX))
		return wrong(x,
		    "entry %zu of services must be an object with a name of 1 to %d bytes", x->nth,
		    SERVICE_NAME_MAX);
	x->service = json_string_value(json_object_get(o, "name"));
	rc = read_text(x, o, "domain", &text);
	if (rc == 0)
		rc = read_whole(x, o, "tag", INT64_MAX, false, &tag);
	if (rc == 0 && list && !json_is_array(list))
		rc = wrong(x, "instances must be a list");
	if (rc == 0 && !list)
		json_object_set_new(o, "instances", list = json_array());
	return rc < 0 ? rc : read_instances(x, o, list);
}

static int check_names(struct state_reading *x, json_t *list)
{
	x->service = NULL;
	for (size_t i = 1; i < json_array_size(list); i++) {
		json_t *a = json_array_get(list, i - 1), *b = json_array_get(list, i);

		if (by_name(&a, &b) == 0)
			return wrong(x, "service %.100s is there twice",
			    json_string_value(json_object_get(a, "name")));
	}
	return 0;
}

int routes_state_read(struct str text, json_t **ret_state, struct problem *p)
{
	struct state_reading x = {.p = p};
	json_error_t e;
	AUTO(json_drop)
	json_t *state = json_loadb(text.p ? text.p : "", text.n, JSON_REJECT_DUPLICATES, &e);
	json_t *list = json_object_get(state, "services"), *o;
	int rc = 0;

	if (!state)
		return problem_set(p, ERR_INVALID,
		    "the state of routes is no JSON: line %d: %.120s", e.line, e.text);
	if (!json_is_array(list))
		return wrong(&x, "it must be an object with a list services");
	json_array_foreach(list, x.nth, o)
	{
		if ((rc = read_service(&x, o)) < 0)
			return rc;
	}
	sort(list, by_name);
	if ((rc = check_names(&x, list)) == 0)
		*ret_state = TAKE(state);
	return rc;
}
