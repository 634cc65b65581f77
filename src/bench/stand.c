/* SPDX-License-Identifier: Apache-2.0 */
/* A server and a worker for one case: fresh state, ports that the kernel chooses, loopback only. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/internal.h"

#define START_SECONDS 60
#define CONCURRENCY_MAX 1024 /* the most a plugin may ask for */

static int write_config(struct bench *b, const char *dispatch, const char *path)
{
	int64_t n = (b->inflight + b->processes - 1) / b->processes;
	char each[24], beat[32];
	json_t *config;
	int r;

	n = n > CONCURRENCY_MAX ? CONCURRENCY_MAX : n;
	snprintf(each, sizeof each, "%lld", (long long)n);
	snprintf(beat, sizeof beat, "%lldms", (long long)b->heartbeat_ms);
	/* the workers of one bench join at once */
	config = json_pack("{s:{s:s,s:s,s:{s:i,s:i}},s:{s:I,s:{s:{s:[s,s,s],s:s,s:I}}},s:{s:s}}",
	    "server", "dispatch", dispatch, "heartbeat", beat, "limits", "workers_max", 1000000,
	    "joins_per_minute", 1000000, "worker", "maxthreads", (json_int_t)b->inflight, "plugins",
	    NOOP_QUEUE_PLUGIN, "exec", b->exe, "__noop-plugin", each, "mode", "persistent",
	    "processes", (json_int_t)b->processes, "log", "level", "warn");
	r = json_dump_file(config, path, JSON_INDENT(2));
	json_decref(config);
	return r == 0 ? 0 : problem_set(&b->problem, ERR_IO, "%s: %s", path, strerror(errno));
}

/* The log says more than we do. */
static int gave_up(struct bench *b, const char *who, const char *log)
{
	if (bench_interrupted())
		return problem_set(&b->problem, ERR_TIMEOUT, "interrupted");
	b->keep = true;
	problem_set(&b->problem, ERR_UNREACHABLE, "the benchmark's %s did not become ready", who);
	return problem_hint(&b->problem, "its log is %s", log);
}

static int port_of(const char *address)
{
	const char *colon = address ? strrchr(address, ':') : NULL;
	int64_t port = 0;

	if (colon)
		str_to_i64(str_of(colon + 1), 1, 65535, &port);
	return (int)port;
}

/* The ports were chosen by the kernel. */
static void learn_ports(struct stand *s, const json_t *status)
{
	const json_t *item;
	size_t i;

	json_array_foreach(json_object_get(status, "listen"), i,
	    item) if (json_is_string(item) && strncmp(json_string_value(item), "unix:", 5) != 0)
	    s->http_port = port_of(json_string_value(item));
	s->link_port = port_of(json_string_value(json_object_get(status, "link")));
}

/* The server made it at its start. */
static int read_token(struct bench *b, const char *name, char *ret_token, int size)
{
	AUTO(free_cstr) char *path = xasprintf("%s/%s", b->stand.dir, name);
	FILE *f = fopen(path, "re");
	bool got = f && fgets(ret_token, size, f);

	if (f)
		fclose(f);
	ret_token[strcspn(ret_token, "\n")] = 0;
	return got ? 0 : problem_set(&b->problem, ERR_IO, "%s: %s", path, strerror(errno));
}

static int learn_tokens(struct bench *b)
{
	struct stand *s = &b->stand;
	int r = read_token(b, "token", s->token, sizeof s->token);

	return r ? r : read_token(b, "join-token", s->join_token, sizeof s->join_token);
}

static int server_wait(struct bench *b, const char *log)
{
	double end = bench_seconds() + START_SECONDS;
	json_t *status = NULL;

	while (child_is_alive(b->stand.server) && bench_seconds() < end && !bench_interrupted()) {
		if (http_call(b, "GET", "/v1/status", NULL, &status) == 0 &&
		    json_is_true(json_object_get(status, "ready"))) {
			learn_ports(&b->stand, status);
			json_decref(status);
			return learn_tokens(b);
		}
		json_decref(status);
		status = NULL;
		usleep(10000);
	}
	return gave_up(b, "server", log);
}

static int server_start(struct bench *b, const char *config)
{
	AUTO(free_cstr) char *log = xasprintf("%s/server.log", b->stand.dir);
	const char *argv[] = {"reeve", "server", "--config", config, "--state-dir", b->stand.dir,
	    "--listen", "127.0.0.1:0", "--link-listen", "127.0.0.1:0", NULL};

	free(b->stand.socket);
	b->stand.socket = xasprintf("%s/reeve.sock", b->stand.dir);
	b->stand.server = child_start(argv, log, &b->problem);
	return b->stand.server < 0 ? b->stand.server : server_wait(b, log);
}

static int worker_wait(struct bench *b, const char *log)
{
	double end = bench_seconds() + START_SECONDS;

	while (child_is_alive(b->stand.worker) && bench_seconds() < end && !bench_interrupted()) {
		json_t *status = NULL;
		double n = 0;

		if (http_call(b, "GET", "/v1/status", NULL, &status) == 0)
			n = figure_get(status, "workers.connected");
		json_decref(status);
		if (n >= 1)
			return 0;
		usleep(10000);
	}
	return gave_up(b, "worker", log);
}

static int worker_start(struct bench *b, const char *config)
{
	AUTO(free_cstr)
	char *log = xasprintf("%s/worker.log", b->stand.dir),
	     *state = xasprintf("%s/worker", b->stand.dir),
	     *token = xasprintf("%s/join-token", b->stand.dir),
	     *join = xasprintf("127.0.0.1:%d", b->stand.link_port);
	const char *argv[] = {"reeve", "worker", "--config", config, "--state-dir", state, "--join",
	    join, "--token-file", token, "--name", "bench", NULL};

	b->stand.worker = child_start(argv, log, &b->problem);
	return b->stand.worker < 0 ? b->stand.worker : worker_wait(b, log);
}

static int start(struct bench *b, const char *name, const char *dispatch, bool with_worker)
{
	AUTO(free_cstr) char *config = NULL;
	int r;

	b->stand = (struct stand){.dir = xasprintf("%s/%s", b->dir, name), .fd = -1};
	config = xasprintf("%s/bench.json", b->stand.dir);
	if (mkdir(b->stand.dir, 0700) < 0)
		return problem_set(&b->problem, ERR_IO, "%s: %s", b->stand.dir, strerror(errno));
	r = write_config(b, dispatch, config);
	if (r == 0)
		r = server_start(b, config);
	return r || !with_worker ? r : worker_start(b, config);
}

int stand_start(struct bench *b, const char *name)
{
	return start(b, name, "durable", true);
}

int stand_start_server(struct bench *b, const char *dispatch)
{
	return start(b, dispatch, dispatch, false);
}

int stand_restart_server(struct bench *b)
{
	AUTO(free_cstr) char *config = xasprintf("%s/bench.json", b->stand.dir);

	if (b->stand.fd >= 0)
		close(b->stand.fd);
	b->stand.fd = -1;
	child_stop(&b->stand.server);
	return server_start(b, config);
}

void stand_stop(struct bench *b)
{
	struct stand *s = &b->stand;

	if (!s->dir)
		return;
	if (s->fd >= 0)
		close(s->fd);
	child_stop(&s->worker);
	child_stop(&s->server);
	if (!b->keep)
		remove_tree(s->dir);
	free(s->dir);
	free(s->socket);
	*s = (struct stand){.fd = -1};
}
