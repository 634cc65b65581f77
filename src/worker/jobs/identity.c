/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As whom tasks may run: named in the configuration, looked up once, and told to the keeper while
 * we still have the rights that it inherits. Then we become who we are told to be.
 */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/mem.h"
#include "exec/rights.h"
#include "worker/internal.h"

#define GROUPS_MAX 1024

static void fill_groups(struct worker *w, const char *name, struct keeper_identity *id)
{
	gid_t groups[GROUPS_MAX];
	int n = GROUPS_MAX;

	if (getgrouplist(name, id->gid, groups, &n) < 0)
		n = 0;
	id->groups = arena_memdup(&w->facts_arena, groups, (size_t)n * sizeof *groups);
	id->n_groups = (size_t)n;
}

static int add_user(struct worker *w, struct keeper_identity *id, const char *name, const char *as,
    struct problem *p)
{
	const struct passwd *u = getpwnam(name);

	if (!u) {
		problem_set(p, ERR_INVALID, "there is no user %s", name);
		return problem_hint(p, "worker.user and worker.run_as name users of this machine");
	}
	*id = (struct keeper_identity){.name = str_of(as), .uid = u->pw_uid, .gid = u->pw_gid};
	fill_groups(w, name, id);
	return 0;
}

static size_t count(const char *const *names)
{
	size_t n = 0;

	while (names && names[n])
		n++;
	return n;
}

static int add_groups(struct worker *w, struct keeper_options *o, struct problem *p)
{
	const char *const *names = w->o->run_as_groups;
	struct keeper_identity *all =
	    arena_zalloc(&w->facts_arena, (count(names) + 1) * sizeof *all);

	for (o->n_groups = 0; names && names[o->n_groups]; o->n_groups++) {
		const struct group *g = getgrnam(names[o->n_groups]);

		if (!g)
			return problem_set(
			    p, ERR_INVALID, "there is no group %s", names[o->n_groups]);
		all[o->n_groups] =
		    (struct keeper_identity){.name = str_of(names[o->n_groups]), .gid = g->gr_gid};
	}
	o->groups = all;
	return 0;
}

static int need_root(const struct worker *w, struct problem *p)
{
	if (geteuid() == 0 || (!w->o->user && !count(w->o->run_as) && !count(w->o->run_as_groups)))
		return 0;
	problem_set(p, ERR_DENIED, "only root can run tasks as other users");
	return problem_hint(
	    p, "start the worker as root, or take worker.user and worker.run_as out");
}

static int add_capabilities(const struct worker *w, struct keeper_options *o, struct problem *p)
{
	for (const char *const *name = w->o->run_as_capabilities; name && *name; name++) {
		int n = capability_number(*name);

		if (strcasecmp(*name, "all") == 0) {
			o->capabilities = CAPABILITIES_ALL;
			continue;
		}
		if (n < 0)
			return problem_set(p, ERR_INVALID, "there is no capability %s", *name);
		o->capabilities |= UINT64_C(1) << n;
	}
	return 0;
}

/* The nameless identity is whom tasks run as that name nobody: the worker itself. */
int identities_gather(struct worker *w, struct keeper_options *o, struct problem *p)
{
	const char *const *names = w->o->run_as;
	struct keeper_identity *all =
	    arena_zalloc(&w->facts_arena, (count(names) + 2) * sizeof *all);
	int r = need_root(w, p);

	o->users = all;
	o->worker_uid = geteuid();
	if (r == 0 && w->o->user) {
		r = add_user(w, &all[o->n_users], w->o->user, "", p);
		o->worker_uid = all[o->n_users++].uid;
	}
	for (; r == 0 && names && *names; names++)
		r = add_user(w, &all[o->n_users++], *names, *names, p);
	if (r == 0)
		r = add_capabilities(w, o, p);
	return r ? r : add_groups(w, o, p);
}

static int give_directory(const char *path, uid_t uid, gid_t gid, struct problem *p)
{
	static const char *const names[] = {"", "/lock", "/started", "/key", "/keeper", "/spool"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		AUTO(free_cstr) char *file = xasprintf("%s%s", path, names[i]);

		if (lchown(file, uid, gid) < 0 && errno != ENOENT)
			return problem_set(p, ERR_IO, "%s: %s", file, strerror(errno));
	}
	return 0;
}

int rights_give_up(struct worker *w, struct problem *p)
{
	const struct passwd *u = w->o->user ? getpwnam(w->o->user) : NULL;

	if (!u || u->pw_uid == geteuid())
		return 0;
	if (give_directory(w->o->state_dir, u->pw_uid, u->pw_gid, p) < 0)
		return ERR_IO;
	if (initgroups(w->o->user, u->pw_gid) < 0 ||
	    setresgid(u->pw_gid, u->pw_gid, u->pw_gid) < 0 ||
	    setresuid(u->pw_uid, u->pw_uid, u->pw_uid) < 0)
		return problem_set(p, ERR_IO, "becoming user %s: %s", w->o->user, strerror(errno));
	return 0;
}

void identity_environment(struct str user, struct env *e)
{
	AUTO(free_cstr) char *name = user.n ? xstrndup(user.p, user.n) : NULL;
	const struct passwd *u = name ? getpwnam(name) : NULL;

	if (!u)
		return;
	env_set(e, STR("HOME"), str_of(u->pw_dir));
	env_set(e, STR("USER"), str_of(name));
	env_set(e, STR("LOGNAME"), str_of(name));
}
