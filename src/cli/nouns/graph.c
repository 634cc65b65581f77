/* SPDX-License-Identifier: Apache-2.0 */
/* Kept graphs: `graph show`, the graph itself, its packages, or one of them. */
#include <stdio.h>

#include "base/mem.h"
#include "cli/nouns/graphs.h"

const struct noun graph_noun = {.word = "graph",
    .path = "/v1/graphs",
    .list = &graph_list,
    .view = &graph_view,
    .gone = "deleted"};

static void show_object(struct cli *c, const struct view *v, json_t *object)
{
	if (wants_machine(c)) {
		print_json(c, object);
		return;
	}
	facts_show(c, v->facts, v->n_facts, object);
	if (v->more)
		v->more(c, object);
}

static int show_package(struct cli *c, const char *graph, const char *package)
{
	AUTO(buf_release) struct buf path = {0};
	AUTO(json_drop) json_t *object = NULL;
	int r = noun_path(c, &graph_noun, graph, "package", &path);

	if (r < 0)
		return r;
	url_add(&path, "name", package);
	if ((r = cli_get(c, path.p, &object)) < 0)
		return r;
	if (package != c->options.args[1])
		say(stdout, "%s", "");
	show_object(c, &package_view, object);
	return EXIT_OK;
}

/* The graph's own lines, and then its packages. */
static int show_graph(struct cli *c, const char *graph)
{
	AUTO(buf_release) struct buf path = {0};
	AUTO(json_drop) json_t *object = NULL;
	const char *name = options_get(&c->options, "name");
	int r = noun_get(c, &graph_noun, graph, &object);

	if (r == 0)
		r = noun_path(c, &graph_noun, graph, "packages", &path);
	if (r < 0)
		return r;
	if (!wants_machine(c)) {
		show_object(c, &graph_view, object);
		say(stdout, "%s", "");
	}
	if (name)
		url_add(&path, "name", name);
	return listing_show(c, &package_list, path.p);
}

int cmd_graph_show(struct cli *c)
{
	const struct options *o = &c->options;
	int r = EXIT_OK;

	if (o->n_args == 1)
		return show_graph(c, o->args[0]);
	for (size_t i = 1; i < o->n_args && r == EXIT_OK; i++)
		r = show_package(c, o->args[0], o->args[i]);
	return r;
}
