/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/log.h"
#include "config/flags.h"
#include "worker/worker.h"

static struct plugin_options *plugins_of(const struct config *c, size_t *ret_n)
{
	struct plugin_options *all;

	*ret_n = config_plugin_count(c);
	all = xcalloc(*ret_n + 1, sizeof *all);
	for (size_t i = 0; i < *ret_n; i++) {
		const struct config_plugin *p = config_plugin_at(c, i);

		all[i] = (struct plugin_options){
		    .name = p->name,
		    .exec = p->argv,
		    .env = p->env,
		    .mode = p->is_persistent ? PLUGIN_PERSISTENT : PLUGIN_ONCE,
		    .processes = p->processes,
		    .recycle_after = p->recycle_after,
		    .recycle_memory = p->recycle_memory,
		};
	}
	return all;
}

static const char *const *list_of(const struct config *c, const char *key)
{
	const char *const *items = NULL;

	config_list(c, key, &items);
	return items;
}

struct running {
	int argc;
	char **argv;
	const struct config *config;
	struct worker_options options;
	struct buf token;
};

/* NULL, with the reasons told: what was in force stays. */
static struct config *read_again(const struct running *r, struct buf *ret_token)
{
	struct problem p = {0};
	int code;
	struct config *c = config_for("reeve worker", CONFIG_FOR_WORKER, r->argc, r->argv, &code);

	if (c && config_secret(c, "worker.token", ret_token, &p) != 0) {
		log_error("the token could not be read: %s", p.what);
		config_free(c);
		c = NULL;
	}
	return c;
}

static void take_token(struct running *r, struct buf token)
{
	buf_release(&r->token);
	r->token = token;
	r->options.join_token = token.n ? r->token.p : NULL;
}

/* A server on this machine may have made its token after we were started, or anew. */
static void look_for_token(void *arg)
{
	struct running *r = arg;
	struct buf token = {0};
	struct problem p;

	if (config_secret_is_given(r->config, "worker.token"))
		return;
	if (config_secret(r->config, "worker.token", &token, &p) == 0)
		take_token(r, token);
	else
		buf_release(&token);
}

static void reload(void *arg)
{
	struct running *r = arg;
	struct buf token = {0};
	struct config *fresh = read_again(r, &token);

	if (!fresh) {
		buf_release(&token);
		log_error("the configuration was not reloaded: the old one stays in force");
		return;
	}
	if (config_setup_log(fresh, "worker") != 0)
		log_error("the log can't be opened: %s", strerror(errno));
	config_note_restart(r->config, fresh, CONFIG_FOR_WORKER);
	take_token(r, token);
	config_free(fresh);
	log_info("configuration reloaded");
}

static int run(struct running *r)
{
	const struct config *c = r->config;
	struct worker_options *o = &r->options;
	struct plugin_options *plugins;
	int64_t wait = config_duration_ms(c, "worker.kill_wait");
	int code;

	*o = (struct worker_options){
	    .server = config_str(c, "worker.server"),
	    .use_tls = config_is_given(c, "worker.tls.ca") || config_is_given(c, "worker.tls.cert"),
	    .tls = {config_str(c, "worker.tls.cert"), config_str(c, "worker.tls.key"),
	        config_str(c, "worker.tls.ca")},
	    .join_token = r->token.n ? r->token.p : NULL,
	    .shard = config_str(c, "worker.name"),
	    .state_dir = config_str(c, "worker.state_dir"),
	    .zone = config_str(c, "worker.zone"),
	    .target = config_str(c, "worker.target"),
	    .labels = list_of(c, "worker.labels"),
	    .cpu = config_str(c, "worker.cpu"),
	    .memory = config_is_set(c, "worker.memory") ? config_int(c, "worker.memory") : 0,
	    .disk = config_is_set(c, "worker.disk") ? config_int(c, "worker.disk") : 0,
	    .resources = list_of(c, "worker.resources"),
	    .ports = config_str(c, "worker.ports"),
	    .address = config_str(c, "worker.address"),
	    .instances = (int)config_int(c, "worker.instances"),
	    .active_queues = list_of(c, "worker.activequeues"),
	    .ignore_queues = list_of(c, "worker.ignorequeues"),
	    .no_command = !config_bool(c, "worker.allow_commands"),
	    .maxthreads = (int)config_int(c, "worker.maxthreads"),
	    .term_wait_ms = wait > 0 ? wait : 1, /* 0 would mean the default */
	    .keep_tasks = config_enum(c, "worker.on_worker_exit") == 1,
	    .spool_bytes = config_int(c, "worker.spool"),
	    .user = config_str(c, "worker.user"),
	    .run_as = list_of(c, "worker.run_as"),
	    .run_as_groups = list_of(c, "worker.run_as_groups"),
	    .run_as_capabilities = list_of(c, "worker.run_as_capabilities"),
	    .sandbox_hide = list_of(c, "worker.sandbox_hide"),
	    .restart_when_lost = config_enum(c, "worker.when_lost") == 1,
	    .trace_shiviz = config_str(c, "worker.trace_shiviz"),
	    .on_hangup = reload,
	    .on_knock = look_for_token,
	    .config_arg = r,
	};
	o->plugins = plugins = plugins_of(c, &o->n_plugins);
	code = worker_main(o);
	free(plugins);
	return code;
}

/* The words that this process was started with, as the kernel keeps them. */
static char **own_words(struct buf *text)
{
	FILE *f = fopen("/proc/self/cmdline", "re");
	char **words = NULL;
	size_t n = 0, cap = 0, got;
	struct str rest, one;

	do {
		buf_reserve(text, 4096);
		got = f ? fread(text->p + text->n, 1, 4096, f) : 0;
		text->n += got;
	} while (got > 0);
	if (f)
		fclose(f);
	rest = buf_str(text);
	while (rest.n && str_next(&rest, 0, &one)) {
		GROW(words, cap, n + 2);
		words[n++] = (char *)one.p; /* a NUL follows each */
		words[n] = NULL;
	}
	return words;
}

/* The same program, arguments and environment; a new instance, because it begins anew. */
static int begin_again(void)
{
	struct timespec pause = {1, 0}; /* a server that keeps sending us away shall live, too */
	struct buf text = {0};
	char **words = own_words(&text);

	log_info("beginning again as a new instance");
	nanosleep(&pause, NULL);
	if (words)
		execve("/proc/self/exe", words, environ);
	log_error("the worker could not begin again: %s", strerror(words ? errno : ENOENT));
	free(words);
	buf_release(&text);
	return 1;
}

int worker_command(int argc, char **argv)
{
	struct running r = {.argc = argc, .argv = argv};
	struct problem p = {0};
	int code = 1;
	struct config *c = config_for("reeve worker", CONFIG_FOR_WORKER, argc, argv, &code);

	if (!c)
		return code;
	r.config = c;
	if (config_setup_log(c, "worker") != 0)
		fprintf(stderr, "reeve: the log can't be opened: %s\n", strerror(errno));
	else if (config_secret(c, "worker.token", &r.token, &p) != 0)
		fprintf(stderr, "reeve: %s%s%s\n", p.what, p.hint[0] ? "\n  hint: " : "", p.hint);
	else
		code = run(&r);
	buf_release(&r.token);
	config_free(c);
	return code == WORKER_AGAIN ? begin_again() : code;
}
