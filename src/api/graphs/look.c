/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at a kept graph: its packages, one of them, and what is wrong with it. */
#include "api/graphs/graphs.h"
#include "api/objects/show.h"
#include "core/graph/view.h"
#include "graph/limits.h"
#include "graph/write/findings.h"

#define NAME_BYTES (2 * IDENT_PART_MAX + 1)

struct graph_look {
	struct str name; /* how the name begins, or all of it */
	struct str after;
	int64_t limit;
	struct buf out;
};

static void look_free(struct call *c)
{
	buf_release(&((struct graph_look *)c->state)->out);
}

static void look_done(struct graph_turn *t)
{
	struct call *c = t->c;
	struct graph_look *l = t->state;

	if (!c->over && !access_is_over(c)) {
		if (t->problem.code) {
			c->problem = t->problem;
			call_problem(c);
		} else {
			call_text(c, 200, "application/json", buf_str(&l->out));
		}
	}
	graph_turn_end(t, 0);
}

/* The graph that the path names; then `work` in its turn. */
static void look(struct call *c, struct graph_look *l, void (*work)(struct graph_turn *t))
{
	rid id = find_object(c, KIND_GRAPH, c->arg, "graph", &c->problem);
	struct graph_turn *t;

	if (!id) {
		call_problem(c);
		return;
	}
	c->on_free = look_free;
	t = graph_turn_new(c, id);
	t->state = l;
	t->work = work;
	t->done = look_done;
	graph_turn_begin(t);
}

/* The first at the text, or behind it, in the order of names. */
static size_t first_at(
    const struct package_graph *g, const uint32_t *sorted, struct str text, bool behind)
{
	size_t low = 0, high = g->n_known;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (str_cmp(g->names.texts[sorted[middle]], text) < behind)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool begins(struct str name, struct str with)
{
	return name.n >= with.n && str_eq((struct str){name.p, with.n}, with);
}

static void list_packages(struct graph_turn *t)
{
	struct graph_look *l = t->state;
	const struct package_graph *g = &t->kept->g;
	const uint32_t *sorted = kept_sorted(t->kept);
	struct str next = STR_NULL, name;
	size_t i = first_at(g, sorted, l->name, false), after = first_at(g, sorted, l->after, true);

	if (l->after.n && after > i)
		i = after;

	jw_open(&l->out, '{');
	jw_key(&l->out, "items");
	jw_open(&l->out, '[');
	for (; i < g->n_known; i++) {
		name = g->names.texts[sorted[i]];
		if (!begins(name, l->name)) /* names that begin alike stand together */
			break;
		if (l->limit-- == 0 || l->out.n > PAGE_BYTES) {
			next = g->names.texts[sorted[i - 1]];
			break;
		}
		show_package(&l->out, g, sorted[i]);
	}
	jw_close(&l->out, ']');
	jw_mstr_null(&l->out, "next", next);
	jw_close(&l->out, '}');
}

/* The text, if it is not too long to be of a name. */
static bool take_text(struct call *c, enum query q, struct str *ret_text)
{
	*ret_text = arena_str(&c->arena, c->query[q]);
	if (c->query[q].n <= NAME_BYTES)
		return true;
	problem_set(&c->problem, ERR_INVALID,
	    "\"%s\" has %zu bytes; a package's name has %d at most", query_infos[q].name,
	    c->query[q].n, NAME_BYTES);
	problem_field(&c->problem, query_infos[q].name);
	call_problem(c);
	return false;
}

void graph_packages(struct call *c)
{
	struct graph_look *l = call_state(c, sizeof *l);

	l->limit = 100;
	if (!call_int(c, Q_LIMIT, 1, 1000, &l->limit) || !take_text(c, Q_NAME, &l->name) ||
	    !take_text(c, Q_CURSOR, &l->after))
		return;
	look(c, l, list_packages);
}

static void find_package(struct graph_turn *t)
{
	struct graph_look *l = t->state;
	const struct package_graph *g = &t->kept->g;
	struct ident id;
	uint32_t name;

	if (ident_parse(l->name, &id, &t->problem) < 0) {
		problem_hint(&t->problem, "for example ?name=core/gcc");
		problem_field(&t->problem, "name");
		return;
	}
	name = names_find(&g->names, id.key);
	if (name != NO_NAME && g->packages[name].is_known) {
		show_package_whole(&l->out, g, name);
		return;
	}
	problem_set(&t->problem, ERR_NOT_FOUND, "there is no package " STR_FMT " in the graph",
	    STR_ARG(id.key));
	problem_hint(&t->problem, name == NO_NAME
	                              ? "reeve graph show GRAPH --name PREFIX lists packages"
	                              : "others need it, but nobody has uploaded it");
}

void graph_package(struct call *c)
{
	struct graph_look *l = call_state(c, sizeof *l);

	if (take_text(c, Q_NAME, &l->name))
		look(c, l, find_package);
}

static void check_graph(struct graph_turn *t)
{
	struct graph_look *l = t->state;
	struct findings f;

	findings_make(&t->kept->g, NULL, 0, &f);
	findings_json(&f, &l->out);
	findings_release(&f);
}

void graph_check(struct call *c)
{
	look(c, call_state(c, sizeof(struct graph_look)), check_graph);
}
