/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As whom a process may run: only those who were named when the keeper was made. The worker, which
 * has fewer rights than we may have, cannot add to them.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "keeper/internal.h"

static struct keeper_identity *keep(
    struct arena *a, const struct keeper_identity *from, size_t n, size_t *ret_n)
{
	struct keeper_identity *to = arena_alloc(a, n * sizeof *to);

	for (size_t i = 0; i < n; i++) {
		to[i] = from[i];
		to[i].name = arena_str(a, from[i].name);
		to[i].groups =
		    arena_memdup(a, from[i].groups, from[i].n_groups * sizeof *from[i].groups);
	}
	*ret_n = n;
	return to;
}

void identities_keep(struct keeper *k, const struct keeper_open *o)
{
	k->ids.users = keep(&k->memory, o->users, o->n_users, &k->ids.n_users);
	k->ids.groups = keep(&k->memory, o->groups, o->n_groups, &k->ids.n_groups);
}

static const struct keeper_identity *find(
    const struct keeper_identity *list, size_t n, struct str name)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(list[i].name, name))
			return &list[i];
	return NULL;
}

static int allowed_group(
    const struct keeper *k, struct str name, gid_t *ret_gid, char *why, size_t n)
{
	const struct keeper_identity *g = find(k->ids.groups, k->ids.n_groups, name);

	if (!g) {
		snprintf(why, n,
		    "this worker may not run tasks with the group " STR_FMT
		    ": worker.run_as_groups does not name it",
		    STR_ARG(name));
		return -1;
	}
	*ret_gid = g->gid;
	return 0;
}

static int add_groups(
    const struct keeper *k, const struct keeper_start *s, struct rights *r, char *why, size_t n)
{
	gid_t *all =
	    arena_alloc((struct arena *)&k->arena, (r->n_groups + s->n_groups) * sizeof *all);

	if (r->n_groups)
		memcpy(all, r->groups, r->n_groups * sizeof *all);
	for (size_t i = 0; i < s->n_groups; i++)
		if (allowed_group(k, s->groups[i], &all[r->n_groups + i], why, n) < 0)
			return -1;
	r->groups = all;
	r->n_groups += s->n_groups;
	return 0;
}

static int become(
    const struct keeper *k, const struct keeper_start *s, struct rights *r, char *why, size_t n)
{
	/* the nameless one is the worker itself, when it has fewer rights than we */
	struct str name = s->user.n ? s->user : STR("");
	const struct keeper_identity *u = find(k->ids.users, k->ids.n_users, name);

	if (!u && s->user.n) {
		snprintf(why, n, "this worker may not run tasks as " STR_FMT ": %s",
		    STR_ARG(s->user),
		    geteuid() ? "it has no right to change the user"
		              : "worker.run_as does not name that user, or there is none");
		return -1;
	}
	if (!u && !s->group.n && !s->n_groups)
		return 0;
	r->change_user = true;
	r->uid = u ? u->uid : geteuid();
	r->gid = u ? u->gid : getegid();
	r->groups = u ? u->groups : NULL;
	r->n_groups = u ? u->n_groups : 0;
	if (s->group.n && allowed_group(k, s->group, &r->gid, why, n) < 0)
		return -1;
	return add_groups(k, s, r, why, n);
}

/* Root's own tasks can only lose some; whoever else gets one gets what he does not have. */
static int check_capabilities(const struct keeper *k, struct rights *r, char *why, size_t n)
{
	uid_t uid = r->change_user ? r->uid : geteuid();
	bool all = r->limit_capabilities && r->capabilities == CAPABILITIES_ALL;

	if (uid != 0 && r->limit_capabilities && (r->capabilities & ~k->o.capabilities)) {
		snprintf(why, n,
		    "this worker does not give its tasks these capabilities: "
		    "worker.run_as_capabilities does not name %s",
		    all ? "\"all\"" : "them all");
		return -1;
	}
	if (all && uid == 0)
		r->limit_capabilities = false; /* whatever root has here */
	else if (all)
		r->capabilities = rights_own();
	return 0;
}

int identity_find(
    const struct keeper *k, const struct keeper_start *s, struct rights *r, char *why, size_t n)
{
	*r = (struct rights){.no_new_privs = !s->new_privs,
	    .limit_capabilities = s->has_capabilities,
	    .capabilities = s->capabilities};
	if (become(k, s, r, why, n) < 0)
		return -1;
	return check_capabilities(k, r, why, n);
}
