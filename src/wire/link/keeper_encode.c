/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between worker and keeper, from plain structs. */
#include <string.h>

#include "keeper.pb-c.h"
#include "wire/encode.h"
#include "wire/link/keeper.h"

#define NEW(a, type, init)                                   \
	({                                                   \
		type *new_ = arena_alloc((a), sizeof *new_); \
		*new_ = (type)init;                          \
		new_;                                        \
	})

static size_t count(const char *const *words)
{
	size_t n = 0;

	while (words && words[n])
		n++;
	return n;
}

static Reeve__Keeper__Identity **put_identities(
    const struct keeper_identity *from, size_t n, struct arena *a)
{
	Reeve__Keeper__Identity **ptrs;
	Reeve__Keeper__Identity *to =
	    PARTS(a, n, Reeve__Keeper__Identity, REEVE__KEEPER__IDENTITY__INIT, ptrs);

	for (size_t i = 0; i < n; i++) {
		to[i].name = encode_cstr(a, from[i].name);
		to[i].uid = from[i].uid;
		to[i].gid = from[i].gid;
		to[i].n_groups = from[i].n_groups;
		to[i].groups = (uint32_t *)from[i].groups;
	}
	return ptrs;
}

static Reeve__Keeper__Open *put_open(const struct keeper_open *o, struct arena *a)
{
	Reeve__Keeper__Open *m = NEW(a, Reeve__Keeper__Open, REEVE__KEEPER__OPEN__INIT);

	m->version = o->version;
	m->lock = encode_cstr(a, o->lock);
	m->socket = encode_cstr(a, o->socket);
	OPTIONAL(m, use_cgroups, o->use_cgroups);
	OPTIONAL(m, keep, o->keep);
	OPTIONAL(m, adopt, o->adopt);
	OPTIONAL(m, term_wait_ms, o->term_wait_ms);
	OPTIONAL(m, capabilities, o->capabilities);
	OPTIONAL(m, worker_uid, o->worker_uid);
	OPTIONAL(m, instance, o->instance);
	OPTIONAL(m, start, o->start);
	m->n_users = o->n_users;
	m->users = put_identities(o->users, o->n_users, a);
	m->n_groups = o->n_groups;
	m->groups = put_identities(o->groups, o->n_groups, a);
	return m;
}

static Reeve__Keeper__Limits *put_limits(const struct run_limits *l, struct arena *a)
{
	Reeve__Keeper__Limits *m;

	if (!l->memory && !l->cpu_milli && !l->pids)
		return NULL;
	m = NEW(a, Reeve__Keeper__Limits, REEVE__KEEPER__LIMITS__INIT);
	OPTIONAL(m, memory, l->memory);
	OPTIONAL(m, cpu_milli, l->cpu_milli);
	OPTIONAL(m, pids, l->pids);
	OPTIONAL(m, warn, l->policy == LIMIT_WARN);
	return m;
}

static void put_rights(const struct keeper_start *s, struct arena *a, Reeve__Keeper__Start *m)
{
	OPTIONAL(m, new_privs, s->new_privs);
	m->has_capabilities = s->has_capabilities;
	m->capabilities = s->capabilities;
	m->user = encode_cstr(a, s->user);
	m->group = encode_cstr(a, s->group);
	m->n_groups = s->n_groups;
	m->groups = arena_alloc(a, s->n_groups * sizeof *m->groups);
	for (size_t i = 0; i < s->n_groups; i++)
		m->groups[i] = encode_cstr(a, s->groups[i]);
}

static void put_program(const struct program *p, struct arena *a, Reeve__Keeper__Start *m)
{
	Reeve__Keeper__Rlimit *to =
	    PARTS(a, p->n_limits, Reeve__Keeper__Rlimit, REEVE__KEEPER__RLIMIT__INIT, m->rlimits);

	m->n_argv = count(p->argv);
	m->argv = (char **)p->argv;
	m->n_env = count(p->env);
	m->env = (char **)p->env;
	m->cwd = (char *)p->cwd;
	OPTIONAL(m, umask, p->umask);
	m->has_nice = p->set_nice;
	m->nice = p->nice;
	OPTIONAL(m, same_group, p->same_group);
	OPTIONAL(m, death_signal, p->death_signal);
	m->n_rlimits = p->n_limits;
	for (size_t i = 0; i < p->n_limits; i++) {
		to[i].resource = p->limits[i].resource;
		to[i].value = p->limits[i].value;
	}
}

static Reeve__Keeper__Start *put_start(const struct keeper_start *s, struct arena *a)
{
	Reeve__Keeper__Start *m = NEW(a, Reeve__Keeper__Start, REEVE__KEEPER__START__INIT);

	m->id = s->id;
	OPTIONAL(m, input, (Reeve__Keeper__Stdin)s->input);
	OPTIONAL(m, n_fds, s->n_fds);
	OPTIONAL(m, kept, s->kept);
	OPTIONAL(m, term_to, s->term_to);
	OPTIONAL(m, sandboxed, s->sandboxed);
	m->result_file = (char *)s->result_file;
	m->has_note = s->note.n > 0;
	m->note = encode_bytes(s->note);
	m->limits = put_limits(&s->limits, a);
	put_rights(s, a, m);
	put_program(&s->program, a, m);
	return m;
}

static Reeve__Keeper__Hold *put_hold(const struct to_keeper *from, struct arena *a)
{
	Reeve__Keeper__Hold *m = NEW(a, Reeve__Keeper__Hold, REEVE__KEEPER__HOLD__INIT);

	m->id = from->hold;
	m->has_note = from->hold_note.n > 0;
	m->note = encode_bytes(from->hold_note);
	return m;
}

static Reeve__Keeper__Mark *put_mark(const struct keeper_mark *k, struct arena *a)
{
	Reeve__Keeper__Mark *m = NEW(a, Reeve__Keeper__Mark, REEVE__KEEPER__MARK__INIT);

	m->id = k->id;
	OPTIONAL(m, mark, k->mark);
	return m;
}

static Reeve__Keeper__Signal *put_signal(const struct keeper_signal *s, struct arena *a)
{
	Reeve__Keeper__Signal *m = NEW(a, Reeve__Keeper__Signal, REEVE__KEEPER__SIGNAL__INIT);

	m->id = s->id;
	m->signal = s->signal;
	OPTIONAL(m, to, s->to);
	return m;
}

void to_keeper_encode(const struct to_keeper *from, struct arena *a, struct buf *out)
{
	Reeve__Keeper__ToKeeper m = REEVE__KEEPER__TO_KEEPER__INIT;

	if (from->open)
		m.open = put_open(from->open, a);
	if (from->start)
		m.start = put_start(from->start, a);
	if (from->mark)
		m.mark = put_mark(from->mark, a);
	if (from->signal)
		m.signal = put_signal(from->signal, a);
	if (from->hold)
		m.hold = put_hold(from, a);
	OPTIONAL(&m, release, from->release);
	OPTIONAL(&m, ping, from->ping);
	OPTIONAL(&m, leave, from->leave);
	m.has_deadline_ms = from->has_deadline;
	m.deadline_ms = from->deadline_ms;
	m.has_frozen = from->has_frozen;
	m.frozen = from->frozen;
	encode_pack(&m.base, out);
}

static Reeve__Keeper__Over *put_over(const struct keeper_over *o, struct arena *a)
{
	Reeve__Keeper__Over *m = NEW(a, Reeve__Keeper__Over, REEVE__KEEPER__OVER__INIT);

	m->id = o->id;
	m->has_exit_code = true;
	m->exit_code = o->exit_code;
	OPTIONAL(m, signal, o->signal);
	OPTIONAL(m, user_us, o->usage.user_us);
	OPTIONAL(m, system_us, o->usage.system_us);
	OPTIONAL(m, peak_memory, o->usage.peak_memory);
	OPTIONAL(m, oom_kills, o->usage.oom_kills);
	return m;
}

static Reeve__Keeper__Opened *put_opened(const struct keeper_opened *o, struct arena *a)
{
	Reeve__Keeper__Opened *m = NEW(a, Reeve__Keeper__Opened, REEVE__KEEPER__OPENED__INIT);

	m->version = o->version;
	m->problem = encode_cstr(a, o->problem);
	m->no_cgroups = encode_cstr(a, o->no_cgroups);
	m->limits = encode_cstr(a, o->limits);
	OPTIONAL(m, ended, o->ended);
	OPTIONAL(m, adoptions, o->adoptions);
	OPTIONAL(m, instance, o->instance);
	OPTIONAL(m, start, o->start);
	return m;
}

static Reeve__Keeper__Kept *put_kept(const struct keeper_kept *k, struct arena *a)
{
	Reeve__Keeper__Kept *m = NEW(a, Reeve__Keeper__Kept, REEVE__KEEPER__KEPT__INIT);

	m->id = k->id;
	m->has_note = k->note.n > 0;
	m->note = encode_bytes(k->note);
	OPTIONAL(m, mark, k->mark);
	OPTIONAL(m, pid, k->pid);
	OPTIONAL(m, started_ms, k->started_ms);
	OPTIONAL(m, started_mono_ms, k->started_mono_ms);
	OPTIONAL(m, n_fds, k->n_fds);
	OPTIONAL(m, has_result, k->has_result);
	if (k->over)
		m->over = put_over(k->over, a);
	return m;
}

static Reeve__Keeper__Started *put_started(const struct keeper_started *s, struct arena *a)
{
	Reeve__Keeper__Started *m = NEW(a, Reeve__Keeper__Started, REEVE__KEEPER__STARTED__INIT);

	m->id = s->id;
	m->pid = s->pid;
	m->warning = encode_cstr(a, s->warning);
	return m;
}

static Reeve__Keeper__NotStarted *put_not_started(
    const struct keeper_not_started *s, struct arena *a)
{
	Reeve__Keeper__NotStarted *m =
	    NEW(a, Reeve__Keeper__NotStarted, REEVE__KEEPER__NOT_STARTED__INIT);

	m->id = s->id;
	m->exit_code = s->exit_code;
	m->reason = encode_reason(a, s->reason);
	return m;
}

void from_keeper_encode(const struct from_keeper *from, struct arena *a, struct buf *out)
{
	Reeve__Keeper__FromKeeper m = REEVE__KEEPER__FROM_KEEPER__INIT;

	if (from->opened)
		m.opened = put_opened(from->opened, a);
	if (from->started)
		m.started = put_started(from->started, a);
	if (from->not_started)
		m.not_started = put_not_started(from->not_started, a);
	if (from->over)
		m.over = put_over(from->over, a);
	if (from->kept)
		m.kept = put_kept(from->kept, a);
	OPTIONAL(&m, all_kept, from->all_kept);
	OPTIONAL(&m, froze, from->froze);
	OPTIONAL(&m, pong, from->pong);
	encode_pack(&m.base, out);
}
