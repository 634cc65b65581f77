/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Services that need others: one starts only when those are ready. What runs goes on without them.
 * A service that waits for itself would never start, so nobody can say that.
 */
#include <stdlib.h>

#include "core/service/service.h"
#include "core/state.h"
#include "model/lines.h"

/* Everybody that the needs lead to, each once, with the need by which they lead there. */
struct chase {
	const struct core *c;
	struct service **v;
	struct str *via;
	size_t n, cap, cap_via;
	struct idmap seen;
};

static void reach(struct chase *h, struct str name, struct str via)
{
	struct service *s = object_find_name(h->c, KIND_SERVICE, name);

	if (!s || !s->needs_others || idmap_get(&h->seen, s->object.id))
		return;
	idmap_put(&h->seen, s->object.id, s);
	GROW(h->v, h->cap, h->n + 1);
	GROW(h->via, h->cap_via, h->n + 1);
	h->v[h->n] = s;
	h->via[h->n++] = via;
}

static struct str needs_of(const struct service *s)
{
	const struct revision *r = revision_find(s, s->deploy.target);
	struct revision_row row;

	if (!r)
		return STR_NULL;
	revision_row(s, r, NULL, &row);
	return row.spec.needs;
}

/* NULL: none of what is needed needs the name. */
static struct str find_circle(struct chase *h, struct str name, struct str needs)
{
	struct str line;

	while (lines_next(&needs, &line)) {
		if (str_eq(line, name))
			return line;
		reach(h, line, line);
	}
	for (size_t i = 0; i < h->n; i++)
		for (struct str rest = needs_of(h->v[i]); lines_next(&rest, &line);) {
			if (str_eq(line, name))
				return h->via[i];
			reach(h, line, h->via[i]);
		}
	return STR_NULL;
}

int service_check_needs(const struct core *c, struct str name, struct str needs, struct problem *p)
{
	struct chase h = {.c = c};
	struct str via = find_circle(&h, name, needs);

	free(h.v);
	free(h.via);
	idmap_release(&h.seen);
	if (!via.p)
		return 0;
	problem_set(p, ERR_INVALID,
	    str_eq(via, name) ? "the service \"" STR_FMT "\" needs itself"
	                      : "what the service \"" STR_FMT "\" needs, needs it, too",
	    STR_ARG(name));
	problem_field(p, "needs");
	return problem_hint(p, "leave out \"" STR_FMT "\"", STR_ARG(via));
}

/* --- who waits */

static bool is_ready(const struct core *c, struct str name)
{
	const struct service *s = object_find_name(c, KIND_SERVICE, name);

	return (s && s->n_ready > 0) || MUTANT(SERVICE_NEEDS_IGNORED);
}

struct str service_lacks(const struct core *c, const struct service *s, int64_t revision)
{
	const struct revision *r = s->needs_others ? revision_find(s, revision) : NULL;
	struct revision_row row;
	struct str rest, line;

	if (!r)
		return STR_NULL;
	revision_row(s, r, NULL, &row);
	rest = row.spec.needs;
	while (lines_next(&rest, &line))
		if (!is_ready(c, line))
			return line;
	return STR_NULL;
}

struct str service_waits_for(struct core *c, struct service *s, int64_t revision)
{
	struct str lacks = service_lacks(c, s, revision);

	if (lacks.p && !s->is_needy) {
		s->is_needy = true;
		TAILQ_INSERT_TAIL(&services_of(c)->needy, s, in_needy);
	}
	return lacks;
}

void services_note_needy(struct core *c)
{
	struct services *all = services_of(c);
	struct service *s;

	while ((s = TAILQ_FIRST(&all->needy))) {
		TAILQ_REMOVE(&all->needy, s, in_needy);
		s->is_needy = false;
		service_note(c, s);
	}
}
