/* SPDX-License-Identifier: Apache-2.0 */
/* What changes a kept graph: `graph load`, `add`, `set` and `rm`. */
#include <string.h>

#include "base/mem.h"
#include "cli/nouns/graphs.h"
#include "cli/tasks/work.h"
#include "graph/limits.h"

/* One request about the graph's packages. JSON is YAML, too: a file may be either. */
static int graph_request(struct cli *c, const char *method, const char *graph, struct str body,
    bool only_new, json_t **ret_graph)
{
	AUTO(buf_release) struct buf path = {0};
	AUTO(reply_release) struct reply reply = {0};
	struct request q = {.method = method,
	    .body = body,
	    .content_type = "application/yaml",
	    .if_none_match = only_new ? "*" : NULL};
	struct client *client = cli_client(c);
	json_error_t e;
	int r;

	if (!client || (r = noun_path(c, &graph_noun, graph, "packages", &path)) < 0)
		return c->problem.code;
	q.path = path.p;
	if ((r = client_do(client, &q, &reply, &c->problem)) < 0)
		return r;
	*ret_graph = json_loadb(reply.body.p, reply.body.n, 0, &e);
	if (!*ret_graph)
		return problem_set(&c->problem, ERR_INTERNAL, "the answer is no JSON: %s", e.text);
	return 0;
}

/* Into what is there; or, if nothing is there, as a new one: unless somebody was faster. */
static int merge(struct cli *c, const char *graph, struct str text, json_t **ret_graph)
{
	int r = graph_request(c, "POST", graph, text, false, ret_graph);

	if (r == ERR_NOT_FOUND)
		r = graph_request(c, "PUT", graph, text, true, ret_graph);
	return r == ERR_PRECONDITION ? graph_request(c, "POST", graph, text, false, ret_graph) : r;
}

int cmd_graph_load(struct cli *c)
{
	const char *const *args = c->options.args;
	AUTO(buf_release) struct buf text = {0};
	AUTO(json_drop) json_t *graph = NULL;
	int r;

	if (c->options.n_args != 2) {
		problem_set(&c->problem, ERR_INVALID, "reeve graph load takes a GRAPH and a FILE");
		return problem_hint(
		    &c->problem, "for example: reeve graph load core packages.json");
	}
	if ((r = input_read(c, args[1], PLAN_FILE_MAX, &text)) < 0)
		return r;
	if (options_switch(&c->options, "replace", false))
		r = graph_request(c, "PUT", args[0], buf_str(&text), false, &graph);
	else
		r = merge(c, args[0], buf_str(&text), &graph);
	if (r < 0)
		return r;
	graph_tell(c, graph);
	return EXIT_OK;
}

/* "a,b" and what is repeated, as a list. */
static void add_list(struct cli *c, const char *option, const char *member, json_t *package)
{
	AUTO(json_drop) json_t *list = json_array();
	size_t at = 0;
	const char *v;

	while ((v = options_next(&c->options, option, &at))) {
		struct str rest = str_of(v), word;

		while (rest.n && str_next(&rest, ',', &word))
			json_array_append_new(list, json_stringn(word.p, word.n));
	}
	if (json_array_size(list))
		json_object_set(package, member, list);
}

static int add_package(struct cli *c, const char *ident, json_t *packages)
{
	const char *reason = options_get(&c->options, "unbuildable");
	const char *duration = options_get(&c->options, "duration");
	json_t *k = json_pack("{s:s}", "ident", ident);

	if (!k)
		return problem_set(&c->problem, ERR_INVALID, "an ident is no UTF-8 text");
	json_array_append_new(packages, k);
	add_list(c, "runtime", "runtime", k);
	add_list(c, "build", "build", k);
	add_list(c, "strong", "strong", k);
	add_list(c, "target", "targets", k);
	if (duration && body_add_text(c, k, "duration", duration) < 0)
		return c->problem.code;
	if (!reason)
		return 0;
	json_object_set_new(k, "buildable", json_false());
	return body_add_text(c, k, "reason", reason);
}

/* Several have the same needs: what they need is said once. */
int cmd_graph_add(struct cli *c)
{
	AUTO(json_drop) json_t *body = json_object(), *graph = NULL;
	AUTO(free_cstr) char *text = NULL;
	json_t *packages = json_array();
	int r = 0;

	json_object_set_new(body, "packages", packages);
	if (c->options.n_args < 2) {
		problem_set(&c->problem, ERR_INVALID, "which package?");
		return problem_hint(&c->problem, "for example: reeve graph add core "
		                                 "core/gcc/9.1.0/1 --runtime core/glibc");
	}
	for (size_t i = 1; i < c->options.n_args && r == 0; i++)
		r = add_package(c, c->options.args[i], packages);
	if (r < 0)
		return r;
	text = json_dumps(body, JSON_COMPACT);
	r = graph_request(c, "POST", c->options.args[0], str_of(text), false, &graph);
	if (r == ERR_NOT_FOUND)
		problem_hint(&c->problem,
		    "`reeve graph load %s FILE` makes it; reeve graph ls shows the graphs",
		    c->options.args[0]);
	if (r < 0)
		return r;
	graph_tell(c, graph);
	return EXIT_OK;
}

/* The graph has changed already: what was done of the rest is told, also if it went wrong then. */
static int fail_live(struct cli *c, const char *reason, json_t *graph)
{
	json_t *failed = json_array();
	int r = 0;

	json_object_set_new(graph, "failed", failed);
	for (size_t i = 1; i < c->options.n_args && r == 0; i++)
		r = graph_fail_live(c, c->options.args[0], c->options.args[i], reason, failed);
	graph_tell(c, graph);
	if (!wants_machine(c) && !c->quiet)
		graph_tell_failed(c, failed);
	return r < 0 ? r : EXIT_OK;
}

static int patch(struct cli *c, const char *member, const char *reason, bool live)
{
	AUTO(json_drop) json_t *body = json_object(), *graph = NULL;
	json_t *list = json_array();
	int r;

	json_object_set_new(body, member, list);
	for (size_t i = 1; i < c->options.n_args; i++) {
		const char *name = c->options.args[i];
		json_t *one = reason ? json_pack("{s:s,s:s}", "package", name, "reason", reason)
		                     : json_string(name);

		if (!one)
			return problem_set(&c->problem, ERR_INVALID, "that is no UTF-8 text");
		json_array_append_new(list, one);
	}
	r = noun_call(c, "PATCH", &graph_noun, c->options.args[0], "packages", body, &graph);
	if (r < 0)
		return r;
	if (live)
		return fail_live(c, reason, graph);
	graph_tell(c, graph);
	return EXIT_OK;
}

int cmd_graph_set(struct cli *c)
{
	const char *reason = options_get(&c->options, "unbuildable");
	bool buildable = options_switch(&c->options, "buildable", false);
	bool live = options_switch(&c->options, "live", false);

	if (buildable && live)
		return problem_set(&c->problem, ERR_INVALID,
		    "--live goes with --unbuildable: what has failed in a group stays so");
	if (c->options.n_args < 2 || !reason == !buildable) {
		problem_set(&c->problem, ERR_INVALID,
		    c->options.n_args < 2
		        ? "which package?"
		        : "one of --unbuildable REASON and --buildable is wanted");
		return problem_hint(&c->problem, "for example: reeve graph set core core/php "
		                                 "--unbuildable \"plan disconnected\"");
	}
	return patch(c, reason ? "unbuildable" : "buildable", reason, live);
}

int cmd_graph_rm(struct cli *c)
{
	const char *graph = c->options.args[0];
	int r;

	if (c->options.n_args > 1)
		return patch(c, "remove", NULL, false);
	if (!options_switch(&c->options, "yes", false) &&
	    !confirm(c, "Delete the graph %s with all of its packages?", graph))
		return not_confirmed(c);
	if ((r = noun_delete(c, &graph_noun, graph)) < 0)
		return r;
	say(stdout, "graph %s deleted", graph);
	return EXIT_OK;
}
