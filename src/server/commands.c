/* SPDX-License-Identifier: Apache-2.0 */
/* `reeve server`: flags, files and environment make a configuration; the server runs on it. */
#include <stdio.h>

#include "config/flags.h"
#include "server/server.h"

struct words {
	int argc;
	char **argv;
};

static struct config *load(const struct words *w, int *ret_code)
{
	struct problem p = {0};
	struct config *c;
	int e = config_from_argv("reeve server", CONFIG_FOR_SERVER, w->argc, w->argv, &c, &p);

	if (c)
		config_print_problems(c);
	if (e == 0)
		return c;
	if (!c) {
		fprintf(stderr, "reeve: %s\n", p.what);
		if (p.hint[0])
			fprintf(stderr, "  hint: %s\n", p.hint);
	}
	config_free(c);
	*ret_code = err_exit_code(e);
	return NULL;
}

static struct config *reload(void *arg)
{
	int code;

	return load(arg, &code);
}

int server_command(int argc, char **argv)
{
	struct words w = {argc, argv};
	struct server_hooks hooks = {.reload = reload, .arg = &w};
	int code = 0;
	struct config *c = load(&w, &code);

	if (!c)
		return code;
	code = server_run(c, &hooks);
	config_free(c);
	return code;
}
