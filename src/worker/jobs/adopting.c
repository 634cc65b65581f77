/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks that outlive a worker. With each of them the keeper has a note, from which the next worker
 * knows it again: it goes on as the same instance, so that the server sees no more than a link that
 * broke and came back.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hex.h"
#include "base/mem.h"
#include "base/world/log.h"
#include "model/limits.h"
#include "wire/json/settings.h"
#include "worker/internal.h"
#include "worker/jobs/spool.h"

struct noted { /* as read from a note; strings live in the JSON */
	struct link_run run;
	bool has_outcome, has_status;
	int sandbox_at; /* 0: there is none */
	json_t *json;
};

static void note_surroundings(const struct job *j, json_t *all)
{
	json_t *env;

	if (!j || !j->env)
		return;
	env = json_array();
	for (const char *const *e = j->env; *e; e++)
		json_array_append_new(env, json_stringn_nocheck(*e, strlen(*e)));
	json_object_set_new(all, "env", env);
	if (j->cwd)
		json_object_set_new(all, "cwd", json_string_nocheck(j->cwd));
}

static void read_surroundings(struct job *j, const json_t *note)
{
	const json_t *env = json_object_get(note, "env");
	const char *cwd = json_string_value(json_object_get(note, "cwd"));
	size_t n = json_array_size(env);
	const char **all = arena_zalloc(&j->memory, (n + 1) * sizeof *all);

	for (size_t i = 0; i < n; i++) {
		const char *one = json_string_value(json_array_get(env, i));

		all[i] = one ? arena_strdup(&j->memory, one) : "";
	}
	j->env = all;
	j->cwd = cwd ? arena_strdup(&j->memory, cwd) : NULL;
}

/* What it was given on standard input it has: that may be long, and is not needed again. */
static void add_settings(json_t *note, const char *key, struct str text)
{
	json_t *settings = json_loadb(text.p, text.n, 0, NULL);

	json_object_del(settings, "input");
	json_object_set_new(note, key, settings);
}

/* Ids are known in full only with this, which is the server's; an adopter's log is before its word.
 */
static json_t *installation_write(const struct id_space *ids)
{
	int64_t n = 0;

	for (size_t i = 0; i < sizeof ids->installation; i++)
		n = n << 8 | ids->installation[i];
	return json_integer(n);
}

static void installation_read(const json_t *note, struct id_space *ids)
{
	int64_t n = json_integer_value(json_object_get(note, "installation"));

	for (size_t i = sizeof ids->installation; n > 0 && i-- > 0; n >>= 8)
		ids->installation[i] = (uint8_t)n;
}

static void receipt_write(json_t *note, const struct receipt *r)
{
	char text[2 * RECEIPT_BYTES + 1];

	if (!receipt_is_given(r))
		return;
	hex_put(text, r->bytes, sizeof r->bytes);
	json_object_set_new(note, "receipt", json_string(text));
}

static struct receipt receipt_read(const json_t *note)
{
	struct receipt r, none = {0};
	const char *text = json_string_value(json_object_get(note, "receipt"));

	return hex_take(str_of(text), r.bytes, sizeof r.bytes) ? r : none;
}

static void instance_write(json_t *note, const struct link_instance *i)
{
	json_t *one;

	if (!i->service.p)
		return;
	one = json_pack("{s:s%,s:I,s:I}", "service", i->service.p, i->service.n, "index",
	    (json_int_t)i->index, "revision", (json_int_t)i->revision);
	if (i->domain.p)
		json_object_set_new(one, "domain", json_stringn(i->domain.p, i->domain.n));
	if (i->need.p)
		json_object_set_new(one, "need", json_stringn(i->need.p, i->need.n));
	json_object_set_new(note, "instance", one);
}

static struct link_instance instance_read(const json_t *note)
{
	const json_t *i = json_object_get(note, "instance");

	return (struct link_instance){
	    .service = str_of(json_string_value(json_object_get(i, "service"))),
	    .domain = str_of(json_string_value(json_object_get(i, "domain"))),
	    .index = (uint32_t)json_integer_value(json_object_get(i, "index")),
	    .revision = json_integer_value(json_object_get(i, "revision")),
	    .need = str_of(json_string_value(json_object_get(i, "need")))};
}

static void ports_write(const struct job *j, json_t *note)
{
	json_t *all;

	if (!j || !j->n_ports)
		return;
	all = json_array();
	for (size_t i = 0; i < j->n_ports; i++)
		json_array_append_new(all, json_integer(j->ports[i]));
	json_object_set_new(note, "ports", all);
}

/* Ports stay with their attempt, whatever the range of this worker is. */
static void ports_read(struct job *j, const json_t *note)
{
	const json_t *all = json_object_get(note, "ports");
	size_t n = json_array_size(all);
	uint16_t *ports = arena_zalloc(&j->memory, (n + 1) * sizeof *ports);

	for (size_t i = 0; i < n; i++) {
		ports[i] = (uint16_t)json_integer_value(json_array_get(all, i));
		ports_keep(&j->w->ports, ports[i]);
	}
	j->ports = ports;
	j->n_ports = n;
}

struct str note_write(
    const struct worker *w, const struct job *j, const struct link_run *r, struct buf *b)
{
	json_t *all =
	    json_pack("{s:I,s:I,s:i,s:i,s:s%,s:s%,s:I,s:I,s:i,s:b,s:i,s:b,s:I,s:b,s:b,s:i}", "task",
	        (json_int_t)r->task, "token", (json_int_t)r->token, "attempt", r->attempt,
	        "max_attempts", r->max_attempts, "queue", r->queue.p, r->queue.n, "plugin",
	        r->plugin.p, r->plugin.n, "timeout_ms", (json_int_t)r->timeout_ms, "output_max",
	        (json_int_t)r->output_max, "output_mode", r->output_mode, "exit_codes",
	        r->exit_codes, "kill_method", r->kill_method, "kill_wait_given", r->kill_wait_given,
	        "kill_wait_ms", (json_int_t)r->kill_wait_ms, "outcome", j && j->result_fd >= 0,
	        "status", j && j->status_fd >= 0, "sandbox_at", j ? j->sandbox_at : 0);
	struct str own = json_member(r->body, "run");
	char *text;

	json_object_set_new(all, "installation", installation_write(&w->ids));
	receipt_write(all, &r->receipt);
	add_settings(all, "queue_run", r->run_settings);
	add_settings(all, "run", own);
	note_surroundings(j, all);
	instance_write(all, &r->instance);
	ports_write(j, all);
	text = json_dumps(all, JSON_COMPACT);
	if (text && strlen(text) <= KEEPER_NOTE_MAX)
		buf_add_cstr(b, text);
	free(text);
	json_decref(all);
	return buf_str(b);
}

static int64_t number(const json_t *j, const char *key)
{
	return json_integer_value(json_object_get(j, key));
}

static bool note_read(struct str note, struct noted *n)
{
	json_t *j = json_loadb(note.p, note.n, 0, NULL);
	const char *queue = json_string_value(json_object_get(j, "queue"));
	const char *plugin = json_string_value(json_object_get(j, "plugin"));

	*n = (struct noted){.json = j,
	    .has_outcome = json_is_true(json_object_get(j, "outcome")),
	    .has_status = json_is_true(json_object_get(j, "status")),
	    .sandbox_at = (int)number(j, "sandbox_at"),
	    .run = {.task = (rid)number(j, "task"),
	        .token = number(j, "token"),
	        .attempt = (int32_t)number(j, "attempt"),
	        .max_attempts = (int32_t)number(j, "max_attempts"),
	        .queue = str_of(queue),
	        .plugin = str_of(plugin),
	        .timeout_ms = number(j, "timeout_ms"),
	        .output_max = number(j, "output_max"),
	        .output_mode = (int32_t)number(j, "output_mode"),
	        .exit_codes = json_is_true(json_object_get(j, "exit_codes")),
	        .kill_method = (int32_t)number(j, "kill_method"),
	        .kill_wait_given = json_is_true(json_object_get(j, "kill_wait_given")),
	        .kill_wait_ms = number(j, "kill_wait_ms"),
	        .receipt = receipt_read(j),
	        .instance = instance_read(j)}};
	return n->run.task && n->run.token;
}

static void read_settings(struct job *j, const json_t *note)
{
	struct run_settings *s = arena_alloc(&j->memory, sizeof *s);
	const json_t *queue = json_object_get(note, "queue_run"),
	             *own = json_object_get(note, "run");
	struct problem p = {0};

	if (settings_over(queue, own, &j->memory, s, &p) < 0)
		run_settings_default(s);
	j->settings = s;
	j->checks = run_checks_of(s);
}

static void read_given(struct job *j, const struct noted *n)
{
	char why[REASON_MAX_BYTES];

	ports_read(j, n->json);
	given_settle_checks(j, why, sizeof why); /* as when it was started */
	j->is_instance = n->run.instance.service.p != NULL;
}

/* In the order in which launch.c gave them. */
static void take_fds(struct job *j, const struct noted *n, struct kept_adopted *a)
{
	int at = 2;

	if (n->has_outcome && at < a->n_fds)
		j->result_fd = a->fds[at++];
	if (n->has_status && at < a->n_fds)
		j->status_fd = a->fds[at++];
	if (n->sandbox_at > 0 && 2 + n->sandbox_at < a->n_fds) {
		j->sandbox_fd = a->fds[2 + n->sandbox_at];
		a->fds[2 + n->sandbox_at] = -1;
	}
	while (at < a->n_fds)
		process_close(&a->fds[at++]);
}

static void open_spools(struct job *j)
{
	int64_t max = j->settings->spool >= 0 ? j->settings->spool : j->w->o->spool_bytes;
	struct problem p = {0};

	j->spools = xcalloc(N_STREAMS, sizeof *j->spools);
	for (int i = 0; i < N_STREAMS; i++) {
		AUTO(free_cstr)
		char *name = xasprintf("%016llx.%lld.%s", (unsigned long long)j->task,
		    (long long)j->token, i ? "err" : "out");

		if (spool_reopen(&j->spools[i], j->w->spool_dir, name, max, &p) < 0)
			log_warn("%s", p.what);
		else
			spool_policy(&j->spools[i], (enum output_policy)j->settings->output_policy);
	}
}

static void feed_adopt(struct worker *w, const struct noted *n, const struct kept_adopted *a,
    const struct spool *spools)
{
	struct agent_event e = {.kind = AE_ADOPT,
	    .adopt = {.run = &n->run,
	        .started_ms = a->started_ms,
	        .started_mono_ms = a->started_mono_ms}};

	for (int i = 0; spools && i < N_STREAMS; i++)
		e.adopt.output_from[i] = spools[i].path ? spool_position(&spools[i]) : 0;
	worker_feed(w, e);
}

/* The attempt ran in a plugin's process, which ended with the worker. */
static void adopt_lost(struct worker *w, const struct noted *n, const struct kept_adopted *a)
{
	struct agent_exit x = {.kind = EXIT_STATUS,
	    .status = TASK_FAILED,
	    .exit_code = -1,
	    .signal = SIGKILL,
	    .reason = STR("the worker was killed, and the plugin's process with it")};

	job_record(w, n->run.task, n->run.token, a->id);
	feed_adopt(w, n, a, NULL);
	worker_exited(w, n->run.task, n->run.token, x);
}

static void adopt_one(struct worker *w, struct kept_adopted *a)
{
	struct noted n;
	struct job *j;

	if (!note_read(a->note, &n)) {
		log_error("a task of an earlier worker is not known any more; it is ended");
		keeper_release(&w->keeper, a->id);
	} else if (!a->pid) {
		adopt_lost(w, &n, a);
	} else {
		installation_read(n.json, &w->ids);
		job_record(w, n.run.task, n.run.token, a->id);
		j = job_new(w, n.run.task, n.run.token);
		j->keeps = true;
		read_settings(j, n.json);
		read_surroundings(j, n.json);
		read_given(j, &n);
		job_marked(j, a->mark);
		kept_adopt(&w->keeper, &j->kept, a, &process_job_fns);
		take_fds(j, &n, a);
		open_spools(j);
		feed_adopt(w, &n, a, j->spools);
		job_output_open(j);
		if (!j->kept.is_over)
			monitoring_start(j);
		job_output_read(j, true);
	}
	json_decref(n.json);
}

static bool is_wanted(const char *name, void *arg)
{
	struct worker *w = arg;
	struct noted n;
	char want[96];
	bool found = false;

	for (size_t i = 0; i < w->keeper.n_adopted && !found; i++) {
		if (note_read(w->keeper.adopted[i].note, &n)) {
			snprintf(want, sizeof want, "%016llx.%lld.", (unsigned long long)n.run.task,
			    (long long)n.run.token);
			found = strncmp(name, want, strlen(want)) == 0;
		}
		json_decref(n.json);
	}
	return found;
}

void adopt_all(struct worker *w)
{
	struct problem p = {0};

	if (spool_sweep(w->spool_dir, is_wanted, w, &p) < 0)
		log_warn("%s", p.what);
	for (size_t i = 0; i < w->keeper.n_adopted; i++)
		adopt_one(w, &w->keeper.adopted[i]);
	w->keeper.n_adopted = 0;
}
