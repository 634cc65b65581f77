/* SPDX-License-Identifier: Apache-2.0 */
/* What one key demands of another. Only for those who use the keys: src.users. */
#include <string.h>

#include "config/internal.h"

static struct where where_of(const struct config *c, const char *key)
{
	const char *origin = config_origin(c, key);

	return (struct where){.name = *origin ? origin : "configuration"};
}

/* A secret in two places of the same precedence: nobody can say which one holds. */
static void check_twice(struct config *c, const char *key)
{
	struct value *text = config_value(c, key), *file = config_secret_file(c, key);
	struct where w = where_of(c, key);

	if (!text->layer || text->layer != file->layer)
		return;
	report(c, &w, "both %s and %s_file are set", key, key);
	report_hint(c, "keep one of them");
}

static void check_open(
    struct config *c, const char *key, const char *address, const char *token, const char *cert)
{
	struct where w = where_of(c, key);

	if (config_address_is_loopback(address))
		return;
	if (!config_secret_is_given(c, token)) {
		report(c, &w, "%s is \"%s\", which others can reach, but there is no token", key,
		    report_quote(c, str_of(address)));
		report_hint(c,
		    "set %s_file (make one: openssl rand -hex 32), or listen on 127.0.0.1", token);
	} else if (!config_is_set(c, cert)) {
		report_warning(c, &w, "%s is \"%s\" without TLS: the token can be overheard", key,
		    report_quote(c, str_of(address)));
		report_hint(c, "set %s, or let a proxy or tunnel encrypt it", cert);
	}
}

static void check_pair(struct config *c, const char *a, const char *b)
{
	struct where w = where_of(c, a);

	if (!config_is_set(c, a) || config_is_set(c, b))
		return;
	report(c, &w, "%s is set, but %s is not", a, b);
	report_hint(c, "set both, or neither");
}

static int64_t ms(const struct config *c, const char *key)
{
	return config_duration_ms(c, key);
}

/* A proof goes along with a heartbeat, so it is late by up to one of them anyway. */
static void check_grace(struct config *c, const char *key, const char *what)
{
	struct where w = where_of(c, config_is_given(c, key) ? key : "server.heartbeat");

	if (ms(c, key) >= ms(c, "server.heartbeat"))
		return;
	report_warning(c, &w, "%s is shorter than server.heartbeat", key);
	report_hint(c, "one late %s makes a good worker unhealthy for a while", what);
}

/* The worker must have given up, and its tasks must be dead, before they begin elsewhere. */
static void check_loss(struct config *c)
{
	struct where margin = where_of(c, "server.worker_margin"),
	             hold = where_of(c, "server.lost_task_hold");

	if (ms(c, "server.worker_margin") >= ms(c, "server.lose_unhealthy_after")) {
		report(c, &margin,
		    "server.worker_margin must be less than server.lose_unhealthy_after");
		report_hint(c, "else a worker gives itself up as soon as it is unhealthy");
	}
	if (ms(c, "server.worker_margin") + ms(c, "server.task_kill_wait") >
	    ms(c, "server.lost_task_hold")) {
		report_warning(c, &hold,
		    "server.lost_task_hold is less than server.worker_margin and "
		    "server.task_kill_wait together");
		report_hint(c, "a lost worker's task may still be dying when it is tried again");
	}
}

static void check_dispatch(struct config *c)
{
	const char *key = "server.caution_startup_wait_for_workers";
	struct where w = where_of(c, key);

	if (!config_is_set(c, key))
		return;
	if (!config_enum(c, "server.dispatch")) {
		report_warning(c, &w, "%s is not used, because server.dispatch is durable", key);
		return;
	}
	report_warning(
	    c, &w, "%s replaces the safe wait: copies of running tasks may be started", key);
	report_hint(c, "leave it out, unless you are certain that no worker runs anything");
}

static void check_server(struct config *c)
{
	const char *const *items;
	size_t n = config_list(c, "server.listen", &items);

	for (size_t i = 0; i < n; i++)
		check_open(c, "server.listen", items[i], "server.token", "server.tls.cert");
	if (config_is_set(c, "server.link_listen"))
		check_open(c, "server.link_listen", config_str(c, "server.link_listen"),
		    "server.join_token", "server.link_tls.cert");
	check_twice(c, "server.token");
	check_twice(c, "server.join_token");
	check_pair(c, "server.tls.cert", "server.tls.key");
	check_pair(c, "server.tls.key", "server.tls.cert");
	check_pair(c, "server.tls.ca", "server.tls.cert");
	check_pair(c, "server.link_tls.cert", "server.link_tls.key");
	check_pair(c, "server.link_tls.key", "server.link_tls.cert");
	check_pair(c, "server.link_tls.ca", "server.link_tls.cert");
	check_grace(c, "server.heartbeat_grace", "heartbeat");
	check_grace(c, "server.healthcheck_grace", "healthcheck");
	check_loss(c);
	check_dispatch(c);
}

static void check_worker(struct config *c)
{
	const char *server = config_str(c, "worker.server");
	struct where w;

	check_twice(c, "worker.token");
	check_pair(c, "worker.tls.cert", "worker.tls.key");
	check_pair(c, "worker.tls.key", "worker.tls.cert");
	check_pair(c, "worker.tls.cert", "worker.tls.ca");
	if (server && !config_address_is_loopback(server) &&
	    !config_secret_is_given(c, "worker.token")) {
		w = where_of(c, "worker.server");
		report_warning(c, &w, "worker.server is another machine, but there is no token");
		report_hint(c, "put the server's join token into worker.token_file");
	}
	if (config_is_set(c, "worker.activequeues") && config_is_set(c, "worker.ignorequeues")) {
		w = where_of(c, "worker.ignorequeues");
		report_warning(
		    c, &w, "worker.ignorequeues is not used, because worker.activequeues is set");
	}
	if (!config_bool(c, "worker.allow_commands") && !config_plugin_count(c)) {
		w = where_of(c, "worker.allow_commands");
		report_warning(c, &w, "this worker allows no plugin, so it will run nothing");
		report_hint(c, "set worker.plugins, or worker.allow_commands to true");
	}
}

static void check_log(struct config *c)
{
	struct where w = where_of(c, "log.output");
	const char *output = config_str(c, "log.output");

	if (output && !strcmp(output, "file") && !config_is_set(c, "log.file")) {
		report(c, &w, "log.output is \"file\", but log.file is not set");
		report_hint(c, "set log.file to the path of the file");
	}
}

void rules_check(struct config *c)
{
	if (c->src.users & CONFIG_FOR_SERVER)
		check_server(c);
	if (c->src.users & CONFIG_FOR_WORKER)
		check_worker(c);
	if (c->src.users & CONFIG_FOR_DAEMONS)
		check_log(c);
	if (c->src.users & CONFIG_FOR_CLI)
		check_twice(c, "cli.token");
}
