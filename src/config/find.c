/* SPDX-License-Identifier: Apache-2.0 */
/* Which files: a named one, else the first of the usual places, and conf.d beside it. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/internal.h"

static int is_part(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return d->d_name[0] != '.' && n > 5 && !strcmp(d->d_name + n - 5, ".json");
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name); /* bytes: the same order in every locale */
}

static void unreadable(struct config *c, const char *path, int err, const char *hint)
{
	struct where w = {.name = path};

	report(c, &w, "cannot be read: %s", strerror(err));
	if (hint)
		report_hint(c, "%s", hint);
	if (c->n_errors == 1)
		c->first_code = err == ENOENT ? ERR_NOT_FOUND : ERR_IO;
}

static const char *conf_d_of(struct config *c, const char *file)
{
	const char *slash = strrchr(file, '/');

	return arena_printf(&c->arena, STR_FMT "conf.d", slash ? (int)(slash + 1 - file) : 0, file);
}

static void load_conf_d(struct config *c, const char *dir)
{
	struct dirent **parts = NULL;
	int n = scandir(dir, &parts, is_part, by_name);

	if (n < 0 && errno != ENOENT && errno != ENOTDIR)
		unreadable(c, dir, errno, NULL);
	if (n > CONFIG_CONF_D_MAX)
		report(
		    c, &(struct where){.name = dir}, "holds more than %d files", CONFIG_CONF_D_MAX);
	for (int i = 0; i < n; i++) {
		const char *path = arena_printf(&c->arena, "%s/%s", dir, parts[i]->d_name);

		if (i < CONFIG_CONF_D_MAX && !file_load(c, path, LAYER_CONF_D))
			unreadable(c, path, errno, NULL);
		free(parts[i]);
	}
	free(parts);
}

static void load_named(struct config *c, const char *path, const char *hint)
{
	if (!file_load(c, path, LAYER_FILE)) {
		unreadable(c, path, errno, hint);
		return;
	}
	c->file = path;
	load_conf_d(c, conf_d_of(c, path));
}

/* False: there is nothing at this place, look at the next one. */
static bool load_usual(struct config *c, const char *path)
{
	const char *conf_d = conf_d_of(c, path);
	bool daemons_own;

	if (access(path, F_OK) && access(conf_d, F_OK))
		return false;
	if (file_load(c, path, LAYER_FILE)) {
		c->file = path;
	} else if (errno == EACCES) {
		/* The server's file may well be closed to those who only send commands. */
		daemons_own = c->src.users & CONFIG_FOR_DAEMONS;
		if (daemons_own)
			unreadable(c, path, EACCES, "its group or owner must be the daemon's");
		return daemons_own;
	} else if (errno != ENOENT) {
		unreadable(c, path, errno, NULL);
	}
	if (!access(conf_d, R_OK | X_OK) || c->src.users & CONFIG_FOR_DAEMONS)
		load_conf_d(c, conf_d);
	return true;
}

static const char *users_file(struct config *c)
{
	const char *xdg = source_env(&c->src, "XDG_CONFIG_HOME");
	const char *home = source_home(c);

	if (xdg && xdg[0] == '/')
		return arena_printf(&c->arena, "%s/reeve/reeve.json", xdg);
	return home ? arena_printf(&c->arena, "%s/.config/reeve/reeve.json", home) : NULL;
}

void files_load(struct config *c)
{
	const char *variable = source_env(&c->src, "REEVE_CONFIG");
	const char *etc = arena_printf(
	    &c->arena, "%s/reeve.json", c->src.etc_dir ? c->src.etc_dir : "/etc/reeve");
	const char *own = users_file(c);
	struct where w = {.name = c->src.file ? c->src.file : "reeve.json", .layer = LAYER_FILE};

	if (c->src.text.p)
		file_load_text(c, c->src.text, &w);
	else if (c->src.file)
		load_named(c, c->src.file, NULL);
	else if (variable)
		load_named(c, variable, "REEVE_CONFIG names it");
	else if (c->src.uid == 0)
		(void)(load_usual(c, etc) || (own && load_usual(c, own)));
	else
		(void)((own && load_usual(c, own)) || load_usual(c, etc));
}
