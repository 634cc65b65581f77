/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between worker and keeper: the first value out of bounds refuses all of the message. */
#include <string.h>

#include "keeper.pb-c.h"
#include "model/limits.h"
#include "wire/decode.h"
#include "wire/link/keeper.h"

#define LOCK_MAX_BYTES 4608
#define GROUPS_MAX 65536
#define SIGNAL_MAX 64

static const char *const *words_of(char **words, size_t n, struct arena *a)
{
	const char **list = arena_alloc(a, (n + 1) * sizeof *list);

	if (n)
		memcpy(list, words, n * sizeof *list);
	list[n] = NULL;
	return list;
}

static int get_identities(Reeve__Keeper__Identity **from, size_t n, struct arena *a,
    const struct keeper_identity **ret, struct problem *p)
{
	struct keeper_identity *to = arena_alloc(a, n * sizeof *to);

	CHECK(n <= KEEPER_USERS_MAX, "open.users");
	for (size_t i = 0; i < n; i++) {
		CHECK(from[i]->n_groups <= GROUPS_MAX, "open.users.groups");
		to[i] = (struct keeper_identity){str_of(from[i]->name), from[i]->uid, from[i]->gid,
		    from[i]->groups, from[i]->n_groups};
	}
	*ret = to;
	return 0;
}

static int get_open(const Reeve__Keeper__Open *m, struct arena *a, const struct keeper_open **ret,
    struct problem *p)
{
	struct keeper_open *o = arena_zalloc(a, sizeof *o);

	CHECK(strlen(m->lock) <= LOCK_MAX_BYTES, "open.lock");
	CHECK(m->term_wait_ms >= 0 && m->term_wait_ms <= DURATION_MAX_MS, "open.term_wait_ms");
	*o = (struct keeper_open){.version = m->version,
	    .lock = str_of(m->lock),
	    .socket = str_of(m->socket),
	    .use_cgroups = m->use_cgroups,
	    .keep = m->keep,
	    .adopt = m->adopt,
	    .term_wait_ms = m->term_wait_ms,
	    .capabilities = m->capabilities,
	    .worker_uid = m->worker_uid,
	    .n_users = m->n_users,
	    .n_groups = m->n_groups,
	    .instance = m->instance,
	    .start = m->start};
	*ret = o;
	if (get_identities(m->users, m->n_users, a, &o->users, p) < 0)
		return ERR_PROTOCOL;
	return get_identities(m->groups, m->n_groups, a, &o->groups, p);
}

static int get_program(
    const Reeve__Keeper__Start *m, struct arena *a, struct program *ret, struct problem *p)
{
	struct program_limit *limits = arena_alloc(a, m->n_rlimits * sizeof *limits);

	CHECK(m->n_argv > 0, "start.argv");
	CHECK(m->umask <= 0777, "start.umask");
	CHECK(m->death_signal >= 0 && m->death_signal <= SIGNAL_MAX, "start.death_signal");
	CHECK(m->n_rlimits <= KEEPER_RLIMITS_MAX, "start.rlimits");
	for (size_t i = 0; i < m->n_rlimits; i++)
		limits[i] = (struct program_limit){m->rlimits[i]->resource, m->rlimits[i]->value};
	*ret = (struct program){.argv = words_of(m->argv, m->n_argv, a),
	    .env = words_of(m->env, m->n_env, a),
	    .cwd = m->cwd,
	    .umask = m->umask,
	    .set_nice = m->has_nice,
	    .nice = m->nice,
	    .limits = limits,
	    .n_limits = m->n_rlimits,
	    .same_group = m->same_group,
	    .death_signal = m->death_signal};
	return 0;
}

static int get_limits(const Reeve__Keeper__Limits *l, struct keeper_start *s, struct problem *p)
{
	if (!l)
		return 0;
	CHECK(l->memory >= 0 && l->cpu_milli >= 0 && l->pids >= 0, "start.limits");
	s->limits.memory = l->memory;
	s->limits.cpu_milli = l->cpu_milli;
	s->limits.pids = l->pids;
	s->limits.policy = l->warn ? LIMIT_WARN : LIMIT_REFUSE;
	return 0;
}

static void get_rights(const Reeve__Keeper__Start *m, struct arena *a, struct keeper_start *s)
{
	struct str *groups = arena_alloc(a, m->n_groups * sizeof *groups);

	s->user = str_of(m->user);
	s->group = str_of(m->group);
	for (size_t i = 0; i < m->n_groups; i++)
		groups[i] = str_of(m->groups[i]);
	s->groups = groups;
	s->n_groups = m->n_groups;
	s->new_privs = m->new_privs;
	s->has_capabilities = m->has_capabilities;
	s->capabilities = m->capabilities;
}

static int get_start(const Reeve__Keeper__Start *m, struct arena *a,
    const struct keeper_start **ret, struct problem *p)
{
	struct keeper_start *s = arena_zalloc(a, sizeof *s);

	CHECK(m->id != 0, "start.id");
	CHECK((unsigned)m->input <= KEEPER_STDIN_PIPE, "start.input");
	CHECK(m->n_fds <= KEEPER_EXTRA_MAX, "start.n_fds");
	CHECK(m->term_to >= 0 && m->term_to < N_KILL_TOS, "start.term_to");
	CHECK(m->note.len <= KEEPER_NOTE_MAX, "start.note");
	CHECK(m->n_groups <= KEEPER_USERS_MAX, "start.groups");
	CHECK(!m->result_file || m->result_file[0] == '/', "start.result_file");
	*s = (struct keeper_start){.id = m->id,
	    .input = (enum keeper_stdin)m->input,
	    .n_fds = m->n_fds,
	    .kept = m->kept,
	    .term_to = m->term_to,
	    .note = decode_bytes(m->note),
	    .result_file = m->result_file,
	    .sandboxed = m->sandboxed};
	*ret = s;
	get_rights(m, a, s);
	if (get_program(m, a, &s->program, p) < 0)
		return ERR_PROTOCOL;
	return get_limits(m->limits, s, p);
}

static int get_signal(const Reeve__Keeper__Signal *m, struct arena *a,
    const struct keeper_signal **ret, struct problem *p)
{
	CHECK(m->signal > 0 && m->signal <= SIGNAL_MAX, "signal.signal");
	CHECK(m->to >= 0 && m->to < N_KILL_TOS, "signal.to");
	*ret = arena_memdup(
	    a, &(struct keeper_signal){m->id, m->signal, m->to}, sizeof(struct keeper_signal));
	return 0;
}

int to_keeper_decode(struct str bytes, struct arena *a, struct to_keeper *ret, struct problem *p)
{
	ProtobufCAllocator from = decode_allocator(a);
	Reeve__Keeper__ToKeeper *m =
	    reeve__keeper__to_keeper__unpack(&from, bytes.n, (const uint8_t *)bytes.p);
	int r = 0;

	*ret = (struct to_keeper){0};
	CHECK(m && decode_strings_ok(&reeve__keeper__to_keeper__descriptor, bytes), "message");
	if (m->open)
		r = get_open(m->open, a, &ret->open, p);
	if (r == 0 && m->start)
		r = get_start(m->start, a, &ret->start, p);
	if (r == 0 && m->signal)
		r = get_signal(m->signal, a, &ret->signal, p);
	if (m->hold) {
		CHECK(m->hold->note.len <= KEEPER_NOTE_MAX, "hold.note");
		ret->hold = m->hold->id;
		ret->hold_note = decode_bytes(m->hold->note);
	}
	if (m->mark) {
		struct keeper_mark mark = {m->mark->id, m->mark->mark};

		ret->mark = arena_memdup(a, &mark, sizeof mark);
	}
	ret->release = m->release;
	ret->ping = m->ping;
	ret->leave = m->leave;
	ret->has_deadline = m->has_deadline_ms;
	ret->deadline_ms = m->deadline_ms;
	ret->has_frozen = m->has_frozen;
	ret->frozen = m->frozen;
	return r;
}

static const struct keeper_over *get_over(const Reeve__Keeper__Over *m, struct arena *a)
{
	struct keeper_over o = {.id = m->id,
	    .exit_code = m->exit_code,
	    .signal = m->signal,
	    .usage = {.user_us = m->user_us,
	        .system_us = m->system_us,
	        .peak_memory = m->peak_memory,
	        .oom_kills = m->oom_kills,
	        .known = true}};

	return arena_memdup(a, &o, sizeof o);
}

static const struct keeper_opened *get_opened(const Reeve__Keeper__Opened *m, struct arena *a)
{
	struct keeper_opened o = {.version = m->version,
	    .ended = m->ended,
	    .adoptions = m->adoptions,
	    .problem = decode_text(m->problem),
	    .no_cgroups = decode_text(m->no_cgroups),
	    .limits = decode_text(m->limits),
	    .instance = m->instance,
	    .start = m->start};

	return arena_memdup(a, &o, sizeof o);
}

static const struct keeper_kept *get_kept(const Reeve__Keeper__Kept *m, struct arena *a)
{
	struct keeper_kept k = {.id = m->id,
	    .note = decode_bytes(m->note),
	    .mark = m->mark,
	    .pid = m->pid,
	    .started_ms = m->started_ms,
	    .started_mono_ms = m->started_mono_ms,
	    .over = m->over ? get_over(m->over, a) : NULL,
	    .n_fds = m->n_fds,
	    .has_result = m->has_result};

	return arena_memdup(a, &k, sizeof k);
}

static void get_answers(
    const Reeve__Keeper__FromKeeper *m, struct arena *a, struct from_keeper *ret)
{
	if (m->started)
		ret->started = arena_memdup(a,
		    &(struct keeper_started){
		        m->started->id, m->started->pid, decode_text(m->started->warning)},
		    sizeof(struct keeper_started));
	if (m->not_started)
		ret->not_started = arena_memdup(a,
		    &(struct keeper_not_started){m->not_started->id, m->not_started->exit_code,
		        decode_text(m->not_started->reason)},
		    sizeof(struct keeper_not_started));
}

int from_keeper_decode(
    struct str bytes, struct arena *a, struct from_keeper *ret, struct problem *p)
{
	ProtobufCAllocator from = decode_allocator(a);
	Reeve__Keeper__FromKeeper *m =
	    reeve__keeper__from_keeper__unpack(&from, bytes.n, (const uint8_t *)bytes.p);

	*ret = (struct from_keeper){0};
	CHECK(m && decode_strings_ok(&reeve__keeper__from_keeper__descriptor, bytes), "message");
	if (m->opened)
		ret->opened = get_opened(m->opened, a);
	if (m->over)
		ret->over = get_over(m->over, a);
	if (m->kept) {
		CHECK(m->kept->n_fds <= KEEPER_FDS_MAX, "kept.n_fds");
		ret->kept = get_kept(m->kept, a);
	}
	get_answers(m, a, ret);
	ret->all_kept = m->all_kept;
	ret->froze = m->froze;
	ret->pong = m->pong;
	return 0;
}
