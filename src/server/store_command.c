/* SPDX-License-Identifier: Apache-2.0 */
/* `reeve store`: what can be done to a store while no server has it open. */
#include <stdio.h>

#include "base/options.h"
#include "config/flags.h"
#include "server/server.h"
#include "store/store.h"

const struct option_def store_options[] = {
    {"to", 0, "VERSION", "the schema version to bring it to (default: this reeve's own)", NULL, 0,
        NULL},
    {"store", 0, "URL", "the store, such as sqlite:PATH (default: the server's)", NULL, 0, NULL},
    {NULL},
};

static int explain(const struct problem *p)
{
	fprintf(stderr, "reeve: %s\n", p->what);
	if (p->hint[0])
		fprintf(stderr, "  hint: %s\n", p->hint);
	return err_exit_code(p->code);
}

static int migrate(const char *url, int64_t to, struct problem *p)
{
	int from = 0, e = store_schema_version(url, &from, p);

	if (e == 0)
		e = store_migrate(url, (int)to, p);
	if (e)
		return explain(p);
	printf("%s: schema version %d, was %d\n", url, (int)to, from);
	return 0;
}

static int show(const char *url, struct problem *p)
{
	int version = 0;

	if (store_schema_version(url, &version, p) != 0)
		return explain(p);
	printf("%s: schema version %d; this reeve knows up to %d\n", url, version,
	    STORE_SCHEMA_VERSION);
	return 0;
}

/* The server's own store, unless one is named. Version 0 would be an empty store: not from here. */
static int with_store(const struct options *o, bool moves)
{
	int code = 1;
	int64_t to = STORE_SCHEMA_VERSION;
	struct problem p = {0};
	const char *url = options_get(o, "store");
	struct config *c = NULL;

	if (options_i64(o, "to", 1, STORE_SCHEMA_VERSION, &to, &p) != 0)
		return explain(&p);
	if (!url) {
		c = config_for("reeve store", CONFIG_FOR_SERVER, 0, NULL, &code);
		if (!c)
			return code;
		url = config_str(c, "server.store");
	}
	code = moves ? migrate(url, to, &p) : show(url, &p);
	config_free(c);
	return code;
}

static int store_command(int argc, char **argv, bool moves)
{
	struct options o = {.program = moves ? "reeve store migrate" : "reeve store version"};
	struct problem p = {0};
	int code;

	options_add_table(&o, store_options);
	if (options_parse(&o, OPTIONS_ANYWHERE, argc, argv, &p) != 0)
		code = explain(&p);
	else
		code = with_store(&o, moves);
	options_release(&o);
	return code;
}

int store_migrate_command(int argc, char **argv)
{
	return store_command(argc, argv, true);
}

int store_version_command(int argc, char **argv)
{
	return store_command(argc, argv, false);
}
