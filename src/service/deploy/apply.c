/* SPDX-License-Identifier: Apache-2.0 */
/* The actions of a pass, carried out on a list of records. */
#include <stdlib.h>

#include "base/mem.h"
#include "service/deploy/deploy.h"

/* A deleted record stays until the end, as one that nobody can mean. */
#define GONE ((enum presence)N_PRESENCES)

static struct instance *find(
    struct instances *r, size_t n, uint32_t service, const struct deploy_action *a)
{
	struct instance key = {.service = service, .index = a->index, .presence = a->presence};

	struct instance *found = bsearch(&key, r->v, n, sizeof key, instance_by_key);

	MUST(found);
	return found;
}

static void create(
    struct instances *r, uint32_t service, const struct deploy_action *a, int64_t now_ms)
{
	GROW(r->v, r->cap, r->n + 1);
	r->v[r->n++] = (struct instance){.service = service,
	    .index = a->index,
	    .worker = NO_WORKER,
	    .revision = a->revision,
	    .is_surge = a->is_surge,
	    .tag = 1,
	    .since_ms = now_ms,
	    .asked_ms = now_ms};
}

static void renew(struct instance *i, const struct deploy_action *a, int64_t now_ms)
{
	if (i->state == INSTANCE_CRASHED)
		instance_move(i, INSTANCE_UNCLAIMED, now_ms);
	i->revision = a->revision;
	i->crash_count = 0;
	i->crashed_at_ms = 0;
	i->since_ms = i->asked_ms = now_ms;
	i->tag++;
}

static void change(struct instance *i, const struct deploy_action *a, int64_t now_ms)
{
	if (a->kind == DEPLOY_RENEW) {
		renew(i, a, now_ms);
		return;
	}
	i->is_stopping = true;
	i->asked_ms = now_ms;
	i->tag++;
}

static void sweep(struct instances *r)
{
	size_t kept = 0;

	for (size_t k = 0; k < r->n; k++)
		if (r->v[k].presence != GONE)
			r->v[kept++] = r->v[k];
	r->n = kept;
	if (kept)
		qsort(r->v, kept, sizeof *r->v, instance_by_key);
}

/* Creations come behind, and deletions last, so that what is found is where it was. */
void deploy_apply(
    struct instances *records, uint32_t service, const struct deploy_pass *pass, int64_t now_ms)
{
	size_t n = records->n;

	for (size_t k = 0; k < pass->n; k++) {
		const struct deploy_action *a = &pass->v[k];

		if (a->kind == DEPLOY_CREATE)
			create(records, service, a, now_ms);
		else if (a->kind != DEPLOY_DELETE)
			change(find(records, n, service, a), a, now_ms);
	}
	for (size_t k = 0; k < pass->n; k++)
		if (pass->v[k].kind == DEPLOY_DELETE)
			find(records, n, service, &pass->v[k])->presence = GONE;
	sweep(records);
}
