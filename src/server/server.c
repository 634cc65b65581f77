/* SPDX-License-Identifier: Apache-2.0 */
#include "server/server.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "base/world/log.h"
#include "base/world/private.h"
#include "config/flags.h"
#include "net/loop/address.h"
#include "net/loop/notify.h"
#include "server/engine/engine.h"
#include "server/engine/retention.h"
#include "server/http/http_api.h"
#include "server/http/own_token.h"
#include "server/paths.h"
#include "server/sockets.h"
#include "server/workers/following.h"
#include "server/workers/sessions.h"
#include "wire/json/need.h"

#define API_READERS 2
#define STORE_CHECK_MS 1000 /* so much longer a start may take at most */

struct server {
	const struct config *config;
	const struct config *first; /* what cannot be reloaded is as it says */
	struct config *reloaded;    /* owned, after SIGHUP */
	const struct server_hooks *hooks;
	struct loop *loop;
	struct notify *notify;  /* NULL: there is no service manager */
	struct sockets sockets; /* the sockets that we were handed */
	struct store *store;
	struct engine *engine;
	struct sessions *sessions;
	struct following *following;
	struct readers *readers;
	struct join *join;
	struct retention *retention;
	struct http_api *http;
	struct tracing *trace; /* NULL: none is wanted */
	uint64_t id;           /* of this process */
	struct tls *tls, *link_tls;
	struct loop_signal *term, *intr, *hup;
	struct buf token, join_token, listen, allow_hosts, allow_origins, url;
	char link[64];
	int64_t started_ms;
	bool stopping;
	int exit_code;
};

static void on_send(const struct message *m, size_t n, void *arg)
{
	sessions_send(((struct server *)arg)->sessions, m, n);
}

static void on_commit(double seconds, size_t rows, void *arg)
{
	struct server *s = arg;

	if (s->http)
		api_saw_commit(http_api_api(s->http), seconds, rows);
}

/* What the store holds now is unknown, and the brain is ahead of it: only a fresh start helps. */
static void on_fatal(const struct problem *p, void *arg)
{
	log_error("the store failed: %s. Ending now, so that nothing untrue is told; "
	          "start the server again when the store is well",
	    p->what);
	_exit(1);
}

static void stop(int signo, void *arg)
{
	struct server *s = arg;

	if (s->stopping)
		return;
	s->stopping = true;
	log_info("stopping on %s", strsignal(signo));
	notify_stopping(s->notify);
	if (s->hooks->on_stop)
		s->hooks->on_stop(s->loop, s->hooks->arg);
	else
		loop_stop(s->loop);
}

static struct tls *make_tls(const struct config *c, const char *prefix, struct problem *ret_problem)
{
	char cert[64], key[64], ca[64];
	struct tls_files f;

	snprintf(cert, sizeof cert, "%s.cert", prefix);
	snprintf(key, sizeof key, "%s.key", prefix);
	snprintf(ca, sizeof ca, "%s.ca", prefix);
	f = (struct tls_files){config_str(c, cert), config_str(c, key), config_str(c, ca)};
	if (!f.cert)
		return NULL;
	return tls_server(&f, ret_problem);
}

static void join_list(const struct config *c, const char *key, struct buf *out)
{
	const char *const *items;
	size_t n = config_list(c, key, &items);

	buf_reset(out);
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "%s\n", items[i]);
}

/* What nobody has set is made at the first start, and lies in the state directory from then on. */
static int read_token(
    const struct config *c, const char *key, struct buf *ret_token, struct problem *ret_problem)
{
	AUTO(free_cstr) char *file = xasprintf("%s_file", key);
	int e = 0;

	if (!config_secret_is_given(c, key))
		e = own_token_make(config_str(c, file), ret_problem);
	if (e == 0)
		e = config_secret(c, key, ret_token, ret_problem);
	if (e == 0 && !ret_token->n)
		e = problem_set(
		    ret_problem, ERR_IO, "the token file %s cannot be read", config_str(c, file));
	return e;
}

/* Both or none: a token that cannot be read must not open what it guards. */
static int read_tokens(struct server *s, struct problem *ret_problem)
{
	struct buf token = {0}, join = {0};
	int e = read_token(s->config, "server.token", &token, ret_problem);

	if (e == 0)
		e = read_token(s->config, "server.join_token", &join, ret_problem);
	if (e) {
		buf_release(&token);
		buf_release(&join);
		return e;
	}
	buf_release(&s->token);
	buf_release(&s->join_token);
	s->token = token;
	s->join_token = join;
	return 0;
}

static struct api_options api_options_of(struct server *s)
{
	join_list(s->config, "server.allow_hosts", &s->allow_hosts);
	join_list(s->config, "server.allow_origins", &s->allow_origins);
	return (struct api_options){
	    .token = s->token.p,
	    .base_path = config_str(s->config, "server.base_path"),
	    .allow_hosts = buf_str(&s->allow_hosts).p,
	    .allow_origins = buf_str(&s->allow_origins).p,
	    .server_uid = getuid(),
	    .facts = {REEVE_VERSION, s->started_ms, store_backend(s->store), buf_str(&s->listen).p,
	        s->link, buf_str(&s->url).p,
	        config_enum(s->first, "server.dispatch") == 1}, /* takes a restart */
	};
}

static struct retention_options retention_of(const struct config *c)
{
	return (struct retention_options){
	    .age_ms = config_duration_ms(c, "server.retention.age"),
	    .count = config_int(c, "server.retention.count"),
	    .idem_ms = config_duration_ms(c, "server.retention.idempotency"),
	    .events_ms = config_duration_ms(c, "server.retention.events"),
	    .workers_ms = config_duration_ms(c, "server.retention.workers"),
	};
}

static int open_store(struct server *s, struct problem *p)
{
	struct store_options o = {
	    .create = true, .migrate = true, .search = true, .check_ms = STORE_CHECK_MS};
	const char *dir = config_str(s->config, "server.state_dir");
	int e = paths_make_dir(dir, p);

	notify_status(s->notify, "opening the store"); /* a migration may take long */
	if (e == 0)
		e = private_dir(dir, 0, p);
	return e ? e : store_open(config_str(s->config, "server.store"), &o, &s->store, p);
}

static int open_link(struct server *s, struct problem *p)
{
	const char *address = config_str(s->config, "server.link_listen");
	const struct passed *given = sockets_next(&s->sockets, SOCKET_LINK, NULL);
	struct sessions_options o = {.address = address};

	s->link_tls = make_tls(s->config, "server.link_tls", p);
	if (p->code)
		return p->code;
	o.tls = s->link_tls;
	o.join_token = s->join_token.p;
	o.trace = s->trace;
	o.passed_fd = given ? given->fd : 0;
	o.strangers_max = (size_t)config_int(s->config, "server.limits.links_waiting_max");
	o.buffered_max = (size_t)config_int(s->config, "server.limits.links_buffered_max");
	o.joins_per_minute = config_int(s->config, "server.limits.joins_per_minute");
	s->sessions = sessions_new(s->loop, &o, p);
	if (!s->sessions)
		return p->code;
	if (given)
		address = given->address;
	snprintf(s->link, sizeof s->link, "%.*s:%d", (int)(strrchr(address, ':') - address),
	    address, sessions_port(s->sessions));
	return 0;
}

static struct timeouts timeouts_of(const struct config *c)
{
	return (struct timeouts){
	    .heartbeat_ms = config_duration_ms(c, "server.heartbeat"),
	    .heartbeat_grace_ms = config_duration_ms(c, "server.heartbeat_grace"),
	    .check_period_ms = config_duration_ms(c, "server.healthcheck_period"),
	    .check_grace_ms = config_duration_ms(c, "server.healthcheck_grace"),
	    .lose_after_ms = config_duration_ms(c, "server.lose_unhealthy_after"),
	    .margin_ms = config_duration_ms(c, "server.worker_margin"),
	    .kill_wait_ms = config_duration_ms(c, "server.task_kill_wait"),
	};
}

static uint64_t random_not_0(void)
{
	uint64_t n;

	do
		n = clock_random();
	while (n == 0);
	return n;
}

static struct core_options core_options_of(const struct config *c, uint64_t server)
{
	static const char caution[] = "server.caution_startup_wait_for_workers";
	struct core_options o = {
	    .window_tasks = (uint32_t)config_int(c, "server.window_tasks"),
	    .window_bytes = (size_t)config_int(c, "server.window_bytes"),
	    .timeouts = timeouts_of(c),
	    .lost_hold_ms = config_duration_ms(c, "server.lost_task_hold"),
	    .groups_active = (uint32_t)config_int(c, "server.groups_active"),
	    .groups_delay_ms = config_duration_ms(c, "server.groups_delay"),
	    .server = server,
	    .is_volatile = config_enum(c, "server.dispatch") == 1,
	    .allow_bump_unhealthy = config_bool(c, "server.allow_bump_unhealthy_worker"),
	    .maxthreads_max = (int32_t)config_int(c, "server.limits.worker_maxthreads"),
	    .workers_max = config_int(c, "server.limits.workers_max"),
	    .input_max = config_int(c, "server.limits.input"),
	    .input_silence_ms = config_duration_ms(c, "server.limits.input_silence"),
	    .caution_startup_wait = config_is_set(c, caution),
	};

	if (o.caution_startup_wait)
		o.startup_wait_ms = config_duration_ms(c, caution);
	return o;
}

/* What the whole cluster has, by name. */
static int resources_of(
    const struct config *c, struct amount ret[RESOURCES_MAX], size_t *ret_n, struct problem *p)
{
	const char *const *items;
	size_t n = config_list(c, "server.resources", &items);

	if (n > RESOURCES_MAX)
		return problem_set(
		    p, ERR_INVALID, "server.resources has more than %d", RESOURCES_MAX);
	for (size_t i = 0; i < n; i++) {
		struct str value = str_of(items[i]);

		if (!str_next(&value, '=', &ret[i].name) ||
		    amount_in(ret[i].name, value, "server.resources", true, &ret[i].n, p))
			return ERR_INVALID;
		if (amount_unit(ret[i].name) != AMOUNT_PIECES)
			return problem_set(p, ERR_INVALID,
			    "server.resources has \"%.*s\", which only workers have",
			    (int)ret[i].name.n, ret[i].name.p);
	}
	*ret_n = n;
	return 0;
}

static int open_engine(struct server *s, struct problem *p)
{
	struct amount resources[RESOURCES_MAX];
	struct engine_options o = {
	    .core = core_options_of(s->config, s->id),
	    .zoneinfo_dir = config_str(s->config, "server.zoneinfo_dir"),
	    .zoneinfo_refresh_ms = config_duration_ms(s->config, "server.zoneinfo_refresh"),
	    .send = on_send,
	    .on_commit = on_commit,
	    .on_fatal = on_fatal,
	    .arg = s,
	};
	int rc = resources_of(s->config, resources, &o.core.n_resources, p);

	if (rc)
		return rc;
	o.core.resources = resources;
	s->engine = engine_new(s->loop, s->store, &o, p);
	if (!s->engine)
		return p->code;
	sessions_serve(s->sessions, s->engine);
	s->following = following_new(s->loop, s->engine, s->sessions);
	tracing_watch(s->trace, s->engine);
	s->readers = readers_new(s->loop, s->store, API_READERS, p);
	if (!s->readers)
		return p->code;
	s->join = join_new(s->engine, s->readers);
	sessions_join_by(s->sessions, s->join);
	struct retention_options keep = retention_of(s->config);

	s->retention = retention_new(s->loop, s->engine, s->readers, &keep);
	return 0;
}

/* The first one is how others shall call us. */
static void note_address(struct server *s, const char *address, int port)
{
	const char *scheme = s->tls ? "https" : "http";
	int host = (int)(strrchr(address, ':') - address);

	buf_printf(&s->listen, "%.*s:%d\n", host, address, port);
	if (!s->url.n)
		buf_printf(&s->url, "%s://%.*s:%d%s", scheme, host, address, port,
		    config_str(s->config, "server.base_path"));
}

/* Each address that is configured, unless we were handed sockets in their place. */
static int listen_tcp(struct server *s, struct problem *p)
{
	const struct passed *given = sockets_next(&s->sockets, SOCKET_API_TCP, NULL);
	const char *const *addresses;
	size_t n = given ? 0 : config_list(s->config, "server.listen", &addresses);
	int e = 0, port = 0;

	for (size_t i = 0; i < n && e == 0; i++) {
		e = http_listen_tcp(http_api_server(s->http), addresses[i], s->tls, &port, p);
		if (e == 0)
			note_address(s, addresses[i], port);
	}
	for (; given; given = sockets_next(&s->sockets, SOCKET_API_TCP, given)) {
		http_listen_passed(http_api_server(s->http), given->fd, false, s->tls);
		note_address(s, given->address, address_port(given->fd));
	}
	return e;
}

static const char *socket_path(const struct server *s)
{
	const struct passed *given = sockets_next(&s->sockets, SOCKET_API_UNIX, NULL);

	return given ? given->address : config_str(s->config, "server.socket");
}

static int listen_unix(struct server *s, struct problem *p)
{
	const struct passed *given = sockets_next(&s->sockets, SOCKET_API_UNIX, NULL);
	const char *path = config_str(s->config, "server.socket");
	mode_t mode = (mode_t)config_int(s->config, "server.socket_mode");
	int e = given ? 0 : paths_make_parent(path, p);

	if (!given && e == 0)
		e = http_listen_unix(http_api_server(s->http), path, mode, p);
	for (; given; given = sockets_next(&s->sockets, SOCKET_API_UNIX, given))
		http_listen_passed(http_api_server(s->http), given->fd, true, NULL);
	return e;
}

static int open_http(struct server *s, struct problem *p)
{
	struct http_options o = {
	    .body_max = (size_t)config_int(s->config, "server.limits.body_max"),
	    .buffered_max = (size_t)config_int(s->config, "server.limits.buffered_max"),
	    .output_max = (size_t)config_int(s->config, "server.limits.output_max"),
	    .connections_max = (int)config_int(s->config, "server.limits.connections_max"),
	    .idle_ms = config_duration_ms(s->config, "server.limits.idle"),
	    .request_ms = config_duration_ms(s->config, "server.limits.request"),
	};
	struct api_options api = api_options_of(s);
	int e;

	s->tls = make_tls(s->config, "server.tls", p);
	if (p->code)
		return p->code;
	s->http = http_api_new(s->loop, s->engine, s->readers, &o, &api);
	e = listen_unix(s, p);
	if (e == 0)
		e = listen_tcp(s, p);
	api = api_options_of(s); /* the ports are known now */
	api_set_options(http_api_api(s->http), &api);
	return e;
}

static void apply(struct server *s, struct config *fresh)
{
	struct retention_options keep;
	struct api_options api;
	struct problem p = {0};

	config_free(s->reloaded);
	s->config = s->reloaded = fresh;
	if (config_setup_log(fresh, "server") != 0 || log_reopen() != 0)
		log_error("the log could not be opened: %s", strerror(errno));
	config_note_restart(s->first, fresh, CONFIG_FOR_SERVER);
	if (read_tokens(s, &p) != 0)
		log_error("a token could not be read: %s", p.what);
	else
		sessions_set_token(s->sessions, s->join_token.p);
	api = api_options_of(s);
	api_set_options(http_api_api(s->http), &api);
	keep = retention_of(fresh);
	retention_set(s->retention, &keep);
	if ((s->tls && tls_reload(s->tls, &p) != 0) || (s->link_tls && tls_reload(s->link_tls, &p)))
		log_error("certificates were not reloaded: %s", p.what);
	log_info("configuration reloaded");
}

static void reload(int signo, void *arg)
{
	struct server *s = arg;
	struct config *fresh;

	notify_reloading(s->notify);
	fresh = s->hooks->reload ? s->hooks->reload(s->hooks->arg) : NULL;
	if (fresh)
		apply(s, fresh);
	else
		log_error("the configuration was not reloaded: the old one stays in force");
	notify_ready(s->notify);
}

static int open_all(struct server *s, struct problem *p)
{
	int e = sockets_take(s->config, &s->sockets, p);

	s->loop = loop_new();
	s->notify = notify_new(s->loop);
	s->id = random_not_0();
	if (e == 0)
		e = tracing_open(config_str(s->config, "server.trace_shiviz"), s->id, &s->trace, p);
	if (e == 0)
		e = open_store(s, p);
	if (e == 0)
		e = read_tokens(s, p);
	if (e == 0)
		e = open_link(s, p);
	if (e == 0)
		e = open_engine(s, p);
	if (e == 0)
		e = open_http(s, p);
	s->term = loop_signal_new(s->loop, SIGTERM, stop, s);
	s->intr = loop_signal_new(s->loop, SIGINT, stop, s);
	s->hup = loop_signal_new(s->loop, SIGHUP, reload, s);
	return e;
}

/* In the order that lets everything under way come to rest: no new requests, then the last batch.
 */
static void close_all(struct server *s)
{
	if (s->readers)
		readers_free(s->readers);
	if (s->retention)
		retention_free(s->retention);
	if (s->following)
		following_free(s->following);
	if (s->engine)
		engine_settle(s->engine);
	if (s->http)
		http_api_free(s->http);
	if (s->sessions)
		sessions_free(s->sessions);
	tracing_close(s->trace);
	if (s->engine)
		engine_free(s->engine);
	join_free(s->join);
	if (s->store)
		store_close(s->store);
	loop_signal_free(s->term);
	loop_signal_free(s->intr);
	loop_signal_free(s->hup);
	notify_free(s->notify);
	loop_free(s->loop);
	tls_free(s->tls);
	tls_free(s->link_tls);
	config_free(s->reloaded);
	buf_release(&s->token);
	buf_release(&s->join_token);
	buf_release(&s->listen);
	buf_release(&s->allow_hosts);
	buf_release(&s->allow_origins);
	buf_release(&s->url);
}

static void serve(struct server *s)
{
	struct server_info info = {socket_path(s), buf_str(&s->url).p, sessions_port(s->sessions)};

	log_info("serving at %s and unix:%s, workers at %s, store %s",
	    s->url.n ? s->url.p : "no TCP address", info.socket, s->link,
	    config_str(s->config, "server.store"));
	notify_status(
	    s->notify, "serving at %s, workers at %s", s->url.n ? s->url.p : info.socket, s->link);
	notify_ready(s->notify);
	if (!s->hooks->on_ready || s->hooks->on_ready(s->loop, &info, s->hooks->arg))
		loop_run(s->loop);
	if (s->hooks->on_end)
		s->hooks->on_end(s->hooks->arg);
}

/*
 * Large blocks go back to the system when they are freed: a burst of bulk submits must not be paid
 * for ever after. Few arenas, for the same reason: there are few threads.
 */
static void keep_memory_small(void)
{
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
	mallopt(M_TRIM_THRESHOLD, 1 << 20);
	mallopt(M_ARENA_MAX, 2);
}

int server_run(const struct config *c, const struct server_hooks *hooks)
{
	struct server s = {.config = c, .first = c, .hooks = hooks, .started_ms = clock_wall_ms()};
	struct problem p = {0};
	int e;

	keep_memory_small();
	umask(0077); /* the database holds parameters and environments: nobody else's business */
	if (config_setup_log(c, "server") != 0) {
		fprintf(stderr, "reeve: the log %s can't be opened: %s\n",
		    config_str(c, "log.file"), strerror(errno));
		return 1;
	}
	e = open_all(&s, &p);
	if (e == 0) {
		serve(&s);
	} else {
		log_error("%s%s%s", p.what, p.hint[0] ? ". " : "", p.hint);
		notify_status(s.notify, "%s", p.what);
		s.exit_code = 1;
	}
	close_all(&s);
	if (e == 0)
		log_info("stopped");
	return s.exit_code;
}
