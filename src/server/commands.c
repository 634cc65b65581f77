/* SPDX-License-Identifier: Apache-2.0 */
/* `reeve server`: flags, files and environment make a configuration; the server runs on it. */
#include "config/flags.h"
#include "server/server.h"

struct words {
	int argc;
	char **argv;
};

static struct config *load(const struct words *w, int *ret_code)
{
	return config_for("reeve server", CONFIG_FOR_SERVER, w->argc, w->argv, ret_code);
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
