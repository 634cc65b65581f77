/* SPDX-License-Identifier: Apache-2.0 */
/* The server: everything put together from a configuration, until a signal ends it. */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include "base/options.h"
#include "config/config.h"
#include "net/loop/loop.h"

struct server_info {
	const char *socket;
	const char *url; /* "http://127.0.0.1:7400", or "" */
	int link_port;
};

struct server_hooks {
	/* Everything listens. May start things on the loop; false: stop again. */
	bool (*on_ready)(struct loop *l, const struct server_info *info, void *arg);
	/* A signal asked us to stop: the loop ends when loop_stop() is called. NULL: at once. */
	void (*on_stop)(struct loop *l, void *arg);
	/* The loop has ended and will be freed: free what hangs on it. */
	void (*on_end)(void *arg);
	/* SIGHUP: reads the configuration again; NULL with a problem printed: keep the old one. */
	struct config *(*reload)(void *arg);
	void *arg;
};

/* Returns the exit code. */
int server_run(const struct config *c, const struct server_hooks *hooks);

/* Commands: argv is what follows the command's name. */
int server_command(int argc, char **argv);
int dev_command(int argc, char **argv);
int store_migrate_command(int argc, char **argv);
int store_version_command(int argc, char **argv);
int store_check_command(int argc, char **argv);
int audit_store_command(int argc, char **argv);
int backup_command(int argc, char **argv);
int restore_command(int argc, char **argv);
extern const struct option_def backup_options[], restore_options[];
extern const struct option_def store_options[], store_only_options[], audit_store_options[];

#endif
