/* SPDX-License-Identifier: Apache-2.0 */
/* A group that is triggered from a kept graph: its plan, and what is said of where it comes from.
 */
#include "api/groups/draft/draft.h"
#include "base/mem.h"

#define TOUCHED_SHOWN 3

static struct str words_of(struct draft *d, int64_t version)
{
	const struct plan_file *f = &d->file;
	AUTO(buf_release) struct buf b = {0};

	buf_printf(&b, "triggered from the graph " STR_FMT ", version %lld: ", STR_ARG(f->from),
	    (long long)version);
	for (size_t i = 0; i < f->n_touched && i < TOUCHED_SHOWN; i++)
		buf_printf(&b, "%s" STR_FMT, i ? ", " : "", STR_ARG(f->touched[i]));
	if (f->n_touched > TOUCHED_SHOWN)
		buf_printf(&b, " and %zu more", f->n_touched - TOUCHED_SHOWN);
	buf_add_cstr(&b, !f->has_touched     ? "everything"
	                 : f->n_touched == 0 ? "nothing has changed"
	                 : f->n_touched == 1 ? " has changed"
	                                     : " have changed");
	return arena_str(&d->arena, buf_str(&b));
}

void draft_graph(struct draft *d, const struct package_graph *g, int64_t version)
{
	const struct plan_file *f = &d->file;
	const struct plan_request r = {.all = !f->has_touched,
	    .touched = f->touched,
	    .n_touched = f->n_touched,
	    .blocked = f->blocked,
	    .n_blocked = f->n_blocked,
	    .rounds = f->rounds};
	struct manifest m;

	if (manifest_make(g, &r, &m, &d->problem))
		return;
	d->group.reason = words_of(d, version);
	draft_manifest(d, &m);
	manifest_release(&m);
}
