/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Throttles: how many tasks with the same key may be dispatched at once, over all queues. One comes
 * into being with the first shape that names it and goes with the last; what a dispatched task
 * holds is in its row, so after a restart as many are counted as before. The limit is that of the
 * task that is to start: whoever names the same key with another limit looks at the same count.
 */
#include "core/state.h"

#include <stdlib.h>

static int key_cmp(const struct common *x, const struct common *y)
{
	return str_cmp(str_of(x->held.name), str_of(y->held.name));
}

RB_PROTOTYPE(throttles, common, by_key, key_cmp)
RB_GENERATE(throttles, common, by_key, key_cmp)

static struct common *find(struct core *c, char *key)
{
	struct common probe = {.held.name = key};

	return RB_FIND(throttles, &c->throttles, &probe);
}

const struct common *throttle_find(const struct core *c, struct str key)
{
	AUTO(free_cstr) char *name = xstrndup(key.p, key.n);

	return find((struct core *)c, name);
}

static struct common *name(struct core *c, struct str key)
{
	AUTO(free_cstr) char *text = xstrndup(key.p, key.n);
	struct common *of = find(c, text);

	if (!of) {
		of = xcalloc(1, sizeof *of);
		of->held.name = TAKE(text);
		RB_INSERT(throttles, &c->throttles, of);
	}
	of->n_shapes++;
	return of;
}

void throttles_name(struct core *c, struct shape *s)
{
	struct str rest = s->need;
	struct amount at;

	while (throttle_next(&rest, &at)) {
		s->amounts = xrealloc(s->amounts, (s->n_amounts + 1) * sizeof *s->amounts);
		s->amounts[s->n_amounts++] =
		    (struct shape_amount){at.name, 1, name(c, at.name), at.n};
		s->has_common = true;
	}
}

static void unname(struct core *c, struct common *of)
{
	if (--of->n_shapes)
		return;
	RB_REMOVE(throttles, &c->throttles, of);
	free(of->held.name);
	free(of->waiting);
	free(of);
}

void throttles_unname(struct core *c, struct shape *s)
{
	for (size_t i = 0; i < s->n_amounts; i++)
		if (s->amounts[i].limit)
			unname(c, s->amounts[i].common);
}

bool throttle_full(const struct shape *s)
{
	for (size_t i = 0; s->has_common && i < s->n_amounts; i++)
		if (s->amounts[i].limit && s->amounts[i].common->held.used >= s->amounts[i].limit)
			return true;
	return false;
}
