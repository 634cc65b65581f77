/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What no sandboxed task may see: our own state, and that of a server beside us. Whoever reaches
 * its socket can have things run outside.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "worker/internal.h"

#define USUAL_MOST 8

static void hide(struct worker *w, const char *path)
{
	if (path && path[0] == '/' && path[1] && access(path, F_OK) == 0)
		w->hidden[w->n_hidden++] = arena_strdup(&w->facts_arena, path);
}

static bool is_a_servers(const char *dir)
{
	AUTO(free_cstr) char *database = xasprintf("%s/reeve.db", dir);
	AUTO(free_cstr) char *socket = xasprintf("%s/reeve.sock", dir);

	return access(database, F_OK) == 0 || access(socket, F_OK) == 0;
}

/* `reeve dev` has the worker's directory inside the server's. */
static void hide_server_above(struct worker *w)
{
	AUTO(free_cstr) char *real = realpath(w->o->state_dir, NULL);
	char *slash = real ? strrchr(real, '/') : NULL;

	if (!slash)
		return;
	*slash = 0;
	if (is_a_servers(real))
		hide(w, real);
}

/* Can others come to it at all? What lies behind a closed door cannot even be covered by them. */
static bool is_within_reach(const char *path)
{
	AUTO(free_cstr) char *up = xstrdup(path);
	struct stat st;

	for (char *slash; (slash = strrchr(up, '/')) && slash > up;) {
		*slash = 0;
		if (stat(up, &st) < 0 || !(st.st_mode & S_IXOTH))
			return false;
	}
	return true;
}

size_t hidden_for(const struct worker *w, bool another_user, const char **ret_paths)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n_hidden; i++)
		if (!another_user || is_within_reach(w->hidden[i]))
			ret_paths[n++] = w->hidden[i];
	return n;
}

void hidden_gather(struct worker *w)
{
	const char *home = getenv("HOME"), *state = getenv("XDG_STATE_HOME");
	AUTO(free_cstr) char *usual = home ? xasprintf("%s/.local/state/reeve", home) : NULL;
	AUTO(free_cstr) char *own = state ? xasprintf("%s/reeve", state) : NULL;
	size_t n = USUAL_MOST;

	for (const char *const *p = w->o->sandbox_hide; p && *p; p++)
		n++;
	w->hidden = arena_zalloc(&w->facts_arena, n * sizeof *w->hidden);
	hide_server_above(w);
	hide(w, w->o->state_dir);
	hide(w, "/var/lib/reeve");
	hide(w, usual);
	hide(w, own);
	for (const char *const *p = w->o->sandbox_hide; p && *p; p++)
		hide(w, *p);
}
