/* SPDX-License-Identifier: Apache-2.0 */
/* The object `run`: a queue's and a task's text, apart by a NUL, against whatever they may hold. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "model/limits.h"
#include "wire/json/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_list(const struct str *items, size_t n, size_t most)
{
	MUST(n <= most && (items || n == 0));
	for (size_t i = 0; i < n; i++)
		MUST(items[i].p && items[i].p[items[i].n] == 0);
}

static void check_paths(const struct str *paths, size_t n)
{
	check_list(paths, n, SANDBOX_PATHS_MAX);
	for (size_t i = 0; i < n; i++)
		MUST(paths[i].p[0] == '/');
}

static void check_look(const struct run_check *c)
{
	bool is_port = c->kind == CHECK_TCP || c->kind == CHECK_HTTP;

	MUST(c->kind >= 0 && c->kind <= CHECK_HTTP);
	MUST(c->given_port >= 0 && c->given_port <= PORTS_MAX);
	MUST(!is_port || c->given_port || (c->port > 0 && c->port < 65536));
	MUST(c->timeout_ms >= 1 && c->healthy_after >= 1 && c->unhealthy_after >= 1);
	MUST(c->kind != CHECK_COMMAND || c->n_command > 0);
}

static void check_kept(const struct run_settings *s)
{
	MUST(s->kill.method >= 0 && s->kill.method < N_KILL_METHODS);
	MUST(s->kill.to >= 0 && s->kill.to < N_KILL_TOS);
	MUST(s->death_signal >= 0 && s->death_signal < N_DEATH_SIGNALS);
	MUST(s->limits.policy >= 0 && s->limits.policy < N_LIMIT_POLICIES);
	MUST(s->limits.memory >= 0 && s->limits.cpu_milli >= 0 && s->limits.pids >= 0);
	MUST(s->nice == NICE_UNSET || (s->nice >= -20 && s->nice <= 19));
	MUST(s->umask == UMASK_UNSET || (s->umask >= 0 && s->umask <= 0777));
	MUST(s->kill.wait_ms >= -1 && s->input.n <= RUN_INPUT_MAX);
	MUST(!(s->kill.to == KILL_TO_GROUP && s->same_group));
	check_look(&s->check);
	check_look(&s->checks.startup);
	check_look(&s->checks.liveness);
	check_look(&s->checks.readiness);
	check_list(s->groups, s->n_groups, 64);
	check_list(s->capabilities, s->n_capabilities, CAPABILITIES_MAX);
	check_paths(s->sandbox.writable, s->sandbox.n_writable);
	check_paths(s->sandbox.readable, s->sandbox.n_readable);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena_release) struct arena a = {0};
	struct str queue = {(const char *)data, size}, task = STR_NULL;
	const char *cut = size ? memchr(data, 0, size) : NULL;
	struct run_settings s;
	struct problem p = {0};

	if (cut) {
		queue.n = (size_t)(cut - queue.p);
		task = (struct str){cut + 1, size - queue.n - 1};
	}
	if (settings_merge(queue, task, &a, &s, &p) == 0)
		check_kept(&s);
	else
		MUST(p.code == ERR_INVALID && p.what[0]);
	return 0;
}
