/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A walk in depth with a stack of its own. The stack is the way from the start to where the walk
 * is, so a loop can be read off it.
 */
#include "graph/package/loops.h"

#include <stdlib.h>

#include "base/mem.h"

#define NAMED_FIRST 4 /* of a long loop: so many at the beginning, and one at the end */
#define NAME_SHOWN 40

enum mark { UNSEEN, ON_THE_WAY, DONE };

struct step {
	uint32_t package;
	uint32_t next; /* which of its dependencies comes next */
};

struct walk {
	const struct package_graph *g;
	struct step *way;
	size_t n, cap;
	uint8_t *marks; /* by package */
};

static void walk_release(struct walk *w)
{
	free(w->way);
	free(w->marks);
}

static void name_add(struct buf *b, struct str name)
{
	struct str head = name_head(name, NAME_SHOWN);

	buf_add_str(b, head);
	if (head.n < name.n)
		buf_add_cstr(b, "…");
}

char *loop_words(const struct str *names, size_t n)
{
	struct buf b = {0};

	for (size_t i = 0; i < n; i++) {
		if (i == NAMED_FIRST && n > NAMED_FIRST + 1) {
			buf_printf(&b, "(%zu more) -> ", n - NAMED_FIRST - 1);
			i = n - 1;
		}
		name_add(&b, names[i]);
		buf_add_cstr(&b, " -> ");
	}
	if (n)
		name_add(&b, names[0]);
	return buf_take(&b);
}

/* From where `again` stands on the way, to its end. */
static int tell_loop(const struct walk *w, uint32_t again, struct problem *p)
{
	size_t from = w->n, n;
	AUTO(free_cstr) char *words = NULL;
	struct str *names;

	while (from > 0 && w->way[from - 1].package != again)
		from--;
	MUST(from > 0);
	n = w->n - --from;
	names = xcalloc(n, sizeof *names);
	for (size_t i = 0; i < n; i++)
		names[i] = w->g->names.texts[w->way[from + i].package];
	words = loop_words(names, n);
	problem_set(p, ERR_CONFLICT, "runtime dependencies close a loop: %s", words);
	problem_field(p, names[0].p);
	free(names);
	return problem_hint(p, "what is needed while it runs may not need itself; loops of build "
	                       "dependencies are fine");
}

static void enter(struct walk *w, uint32_t package)
{
	GROW(w->way, w->cap, w->n + 1);
	w->way[w->n++] = (struct step){package, 0};
	w->marks[package] = ON_THE_WAY;
}

/* The next runtime dependency of the way's last package, or false: there is no more. */
static bool next_dep(struct walk *w, uint32_t *ret_on)
{
	struct step *at = &w->way[w->n - 1];
	const struct package *k = &w->g->packages[at->package];

	while (at->next < k->n_deps) {
		const struct dep *d = &k->deps[at->next++];

		if ((d->kinds & DEP_RUNTIME) && dep_counts(w->g, d)) {
			*ret_on = d->on;
			return true;
		}
	}
	return false;
}

static int walk_from(struct walk *w, uint32_t start, struct problem *p)
{
	uint32_t on;

	if (w->marks[start] != UNSEEN)
		return 0;
	for (enter(w, start); w->n;) {
		if (!next_dep(w, &on))
			w->marks[w->way[--w->n].package] = DONE;
		else if (w->marks[on] == ON_THE_WAY)
			return tell_loop(w, on, p);
		else if (w->marks[on] == UNSEEN)
			enter(w, on);
	}
	return 0;
}

static struct walk walk_begin(const struct package_graph *g)
{
	return (struct walk){.g = g, .marks = xcalloc(g->names.n + 1, 1)};
}

int runtime_loop_through(const struct package_graph *g, uint32_t start, struct problem *p)
{
	AUTO(walk_release) struct walk w = walk_begin(g);

	return walk_from(&w, start, p);
}

int runtime_loop_among(
    const struct package_graph *g, const uint32_t *starts, size_t n, struct problem *p)
{
	AUTO(walk_release) struct walk w = walk_begin(g);
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = walk_from(&w, starts[i], p);
	return rc;
}

int runtime_loop_anywhere(const struct package_graph *g, struct problem *p)
{
	AUTO(walk_release) struct walk w = walk_begin(g);
	int rc = 0;

	for (uint32_t i = 0; i < g->names.n && rc == 0; i++)
		rc = walk_from(&w, i, p);
	return rc;
}
