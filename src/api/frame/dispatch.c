/* SPDX-License-Identifier: Apache-2.0 */
/* From a request to its handler, past every check that the route table can make. */
#include <stdlib.h>
#include <string.h>

#include "api/frame/call.h"
#include "api/groups/owed.h"
#include "api/insight/metrics.h"
#include "api/objects/resource.h"
#include "model/limits.h"

static void not_found(struct call *c, struct str path)
{
	const char *names[64], *near;
	const struct route *r;
	size_t n = 0;

	for (size_t i = 0; (r = route_at(i)) && n < 64; i++)
		if (!strchr(r->pattern, '{'))
			names[n++] = r->pattern;
	near = str_nearest(path, names, n);
	problem_set(&c->problem, ERR_NOT_FOUND, "there is nothing at \"%.*s\"",
	    path.n > 200 ? 200 : (int)path.n, path.p ? path.p : "");
	if (near)
		problem_hint(&c->problem, "did you mean %s?", near);
	else
		problem_hint(&c->problem, "GET /openapi.json lists what there is");
	call_problem(c);
}

static void add_allowed(unsigned allowed, struct buf *ret)
{
	for (int m = 0; m < N_API_METHODS; m++)
		if (allowed & (1u << m))
			buf_printf(ret, "%s%s%s", ret->n ? ", " : "", method_names[m],
			    m == API_GET ? ", HEAD" : "");
}

/* The path is right, the method is not; or it is OPTIONS, which asks what there is. */
static void tell_methods(struct call *c, unsigned allowed)
{
	struct buf list = {0};

	add_allowed(allowed, &list);
	call_header(c, "Allow", list.p);
	if (c->req.method == API_OPTIONS) {
		call_empty(c, 204);
	} else {
		problem_set(
		    &c->problem, ERR_METHOD, "%s does not apply here", method_names[c->req.method]);
		problem_hint(&c->problem, "these do: %s", list.p);
		call_problem(c);
	}
	buf_release(&list);
}

static int unknown_query(struct call *c, struct str key)
{
	const char *names[N_QUERY], *near;
	char text[64];
	size_t n = 0;

	for (int q = 0; q < N_QUERY; q++)
		if (c->route->query & Q(q))
			names[n++] = query_infos[q].name;
	near = str_nearest(key, names, n);
	problem_set(&c->problem, ERR_INVALID, "there is no parameter \"%.*s\" here",
	    key.n > 64 ? 64 : (int)key.n, key.p ? key.p : "");
	if (near)
		problem_hint(&c->problem, "did you mean \"%s\"?", near);
	else if (n == 0)
		problem_hint(&c->problem, "this route takes no parameters");
	else
		problem_hint(&c->problem, "GET /openapi.json lists the parameters of each route");
	memcpy(text, key.p ? key.p : "", key.n > 63 ? 63 : key.n);
	text[key.n > 63 ? 63 : key.n] = 0;
	return problem_field(&c->problem, text);
}

static int take_query(struct call *c, const struct api_param *param)
{
	for (int q = 0; q < N_QUERY; q++) {
		if (!(c->route->query & Q(q)) || !str_is(param->key, query_infos[q].name))
			continue;
		if (c->query[q].p && !query_infos[q].many) {
			problem_set(&c->problem, ERR_INVALID, "the parameter \"%s\" is given twice",
			    query_infos[q].name);
			return problem_field(&c->problem, query_infos[q].name);
		}
		if (param->value.n && memchr(param->value.p, 0, param->value.n)) {
			problem_set(&c->problem, ERR_INVALID,
			    "the parameter \"%s\" holds a NUL byte", query_infos[q].name);
			return problem_field(&c->problem, query_infos[q].name);
		}
		c->query[q] = param->value.p ? param->value : STR("");
		return 0;
	}
	return unknown_query(c, param->key);
}

static bool queries_ok(struct call *c)
{
	if (c->req.n_params > API_PARAMS_MAX) {
		problem_set(
		    &c->problem, ERR_INVALID, "more than %d query parameters", API_PARAMS_MAX);
		call_problem(c);
		return false;
	}
	for (size_t i = 0; i < c->req.n_params; i++)
		if (take_query(c, &c->req.params[i])) {
			call_problem(c);
			return false;
		}
	return true;
}

static bool has_controls(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f)
			return true;
	return false;
}

static bool key_ok(struct call *c)
{
	struct str key = c->req.idempotency_key;

	if (!key.p || (key.n > 0 && key.n <= KEY_MAX_BYTES && !has_controls(key)))
		return true;
	problem_set(&c->problem, ERR_INVALID,
	    "Idempotency-Key must have 1 to %d bytes, none of them a control character",
	    KEY_MAX_BYTES);
	problem_field(&c->problem, "Idempotency-Key");
	call_problem(c);
	return false;
}

/* A proxy may or may not have taken the base path off. */
static struct str without_base(const struct api *a, struct str path)
{
	size_t n = a->opt.base_path ? strlen(a->opt.base_path) : 0;

	if (n && str_starts(path, a->opt.base_path) && path.n > n && path.p[n] == '/')
		return (struct str){path.p + n, path.n - n};
	return path;
}

/* No name holds one, and what is said about it would end there. */
static bool path_ok(struct call *c)
{
	if (!c->req.path.n || !memchr(c->req.path.p, 0, c->req.path.n))
		return true;
	call_fail(c, ERR_INVALID, "the path holds a NUL byte (%00)");
	return false;
}

static void run_route(struct call *c)
{
	c->route->fn(c);
}

/* Submits go through their bodies by themselves, task by task. */
static bool parse_first(const struct call *c)
{
	return c->route->request && !strchr(c->route->request, '/') &&
	       !(c->route->flags & (ROUTE_BULK | ROUTE_YAML)) && c->req.body.n <= CALL_BODY_MAX &&
	       parse_is_long(c->req.body);
}

void api_dispatch(struct call *c)
{
	struct str path = without_base(c->api, c->req.path);
	unsigned allowed;

	c->route = route_find(c->req.method, path, c->args, &allowed);
	c->arg = c->args[0];
	if ((c->route && c->route->right == RIGHT_NONE) ||
	    (call_allowed(c) && access_identify(c) == ADMITTED))
		call_go_on(c);
}

static void parse_and_run(struct call *c)
{
	if (parse_first(c))
		call_parse(c, c->req.body, run_route);
	else
		run_route(c);
}

/* The brain knows of what comes and ends before that is durable: who asks now hears of it then. */
static void settle_and_run(struct call *c)
{
	const struct resource *r =
	    strchr(c->route->pattern, '{') ? resource_at(c->route->tag) : NULL;
	struct problem none = {0};
	rid id = r && r->news_batch ? find_object(c, r->kind, c->arg, "", &none) : 0;

	if (id)
		call_when_durable(c, r->news_batch(c->host->core, id), parse_and_run);
	else
		parse_and_run(c);
}

void call_go_on(struct call *c)
{
	struct str path = without_base(c->api, c->req.path);
	unsigned allowed;

	route_find(c->req.method, path, c->args, &allowed);
	c->arg = c->args[0];
	if (!path_ok(c))
		return;
	if (!c->route && allowed)
		tell_methods(c, allowed);
	else if (!c->route)
		not_found(c, path);
	else if (c->route->right != RIGHT_NONE && !access_may(c, c->route->right))
		return;
	else if (!(c->route->flags & ROUTE_EARLY) && !core_is_open(c->host->core))
		call_fail(c, ERR_BUSY, "the server is still loading its tasks");
	else if (queries_ok(c) && key_ok(c))
		scope_check_path(c, settle_and_run);
}

static void saw_notice(const struct notice *n, void *arg)
{
	struct api *a = arg;

	if (n && strncmp(n->kind, "token.", 6) == 0)
		access_sweep(a);
	if (n) {
		metrics_notice(a->metrics, a->host.core, n);
		waiters_notice(a, n);
	}
	subscribers_notice(a, n);
	if (n)
		return;
	owed_saw_commit(a);
	routes_saw_commit(a);
}

static const char *copy(struct api *a, const char *s)
{
	return s ? arena_strdup(&a->opt_arena, s) : NULL;
}

void api_set_options(struct api *a, const struct api_options *o)
{
	struct arena old = a->opt_arena;

	a->opt_arena = (struct arena){0};
	a->opt = *o;
	a->opt.token = copy(a, o->token);
	a->opt.base_path = copy(a, o->base_path);
	a->opt.allow_hosts = copy(a, o->allow_hosts);
	a->opt.allow_origins = copy(a, o->allow_origins);
	a->opt.facts.version = copy(a, o->facts.version);
	a->opt.facts.backend = copy(a, o->facts.backend);
	a->opt.facts.listen = copy(a, o->facts.listen);
	a->opt.facts.link = copy(a, o->facts.link);
	a->opt.facts.url = copy(a, o->facts.url);
	arena_release(&old); /* last: *o may be what we hold ourselves */
}

struct api *api_new(const struct api_host *h, const struct api_options *o)
{
	struct api *a = xcalloc(1, sizeof *a);

	a->host = *h;
	TAILQ_INIT(&a->calls);
	TAILQ_INIT(&a->spare);
	TAILQ_INIT(&a->subscribers);
	access_init(&a->access);
	TAILQ_INIT(&a->behind);
	a->metrics = metrics_new();
	api_set_options(a, o);
	a->watch = h->watch(h->arg, saw_notice, a);
	return a;
}

void api_free(struct api *a)
{
	if (!a)
		return;
	calls_free(a);
	graph_room_free(a->graphs);
	owed_free(a);
	routes_free(a);
	access_release(&a->access);
	if (a->behind_timer)
		a->host.cancel_timer(a->host.arg, a->behind_timer);
	a->host.unwatch(a->host.arg, a->watch);
	metrics_free(a->metrics);
	idmap_release(&a->waiters);
	rendered_free(a);
	arena_release(&a->opt_arena);
	buf_release(&a->openapi);
	buf_release(&a->metrics_text);
	free(a);
}

void api_saw_commit(struct api *a, double seconds, size_t rows)
{
	metrics_commit(a->metrics, seconds, rows);
}
