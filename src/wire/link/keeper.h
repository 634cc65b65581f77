/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a worker and its keeper say to each other, as plain structs: proto/keeper.proto. Strings and
 * arrays that were decoded live in the arena. Both sides believe each other's bytes no more than
 * anybody's: the keeper may have the greater rights.
 */
#ifndef WIRE_KEEPER_H
#define WIRE_KEEPER_H

#include "base/arena.h"
#include "base/err.h"
#include "model/run/program.h"
#include "model/run/settings.h"
#include "model/run/usage.h"

#define KEEPER_VERSION 1
#define KEEPER_FDS_MAX 10  /* beside one message */
#define KEEPER_EXTRA_MAX 6 /* of a process: 3, 4, … */
#define KEEPER_MESSAGE_MAX (8u << 20)
#define KEEPER_NOTE_MAX (64u << 10)
#define KEEPER_USERS_MAX 256
#define KEEPER_RLIMITS_MAX 16

struct keeper_identity {
	struct str name;
	uint32_t uid, gid;
	const uint32_t *groups;
	size_t n_groups;
};

struct keeper_open {
	uint32_t version;
	struct str lock, socket;
	bool use_cgroups, keep, adopt;
	int64_t term_wait_ms;
	uint64_t capabilities;
	uint32_t worker_uid;
	const struct keeper_identity *users, *groups;
	size_t n_users, n_groups;
	uint64_t instance;
	int64_t start;
};

struct keeper_opened {
	uint32_t version, ended, adoptions;
	struct str problem, no_cgroups, limits; /* NULL: none */
	uint64_t instance;
	int64_t start;
};

enum keeper_stdin { KEEPER_STDIN_NULL, KEEPER_STDIN_FD, KEEPER_STDIN_PIPE };

struct keeper_start {
	uint64_t id;
	struct program program;
	enum keeper_stdin input;
	uint32_t n_fds;
	bool new_privs, has_capabilities, kept;
	uint64_t capabilities;
	struct str user, group;
	const struct str *groups;
	size_t n_groups;
	struct run_limits limits; /* memory, cpu, pids, policy */
	int32_t term_to;          /* enum kill_to */
	struct str note;
	const char *result_file; /* NULL: none */
	bool sandboxed;
};

struct keeper_signal {
	uint64_t id;
	int32_t signal, to;
};

struct keeper_mark {
	uint64_t id, mark;
};

struct keeper_over {
	uint64_t id;
	int32_t exit_code, signal;
	struct usage usage;
};

struct to_keeper { /* one of these; pointers are NULL, ids 0 where it is another */
	const struct keeper_open *open;
	const struct keeper_start *start;
	const struct keeper_signal *signal;
	const struct keeper_mark *mark;
	uint64_t release, hold;
	struct str hold_note;
	bool has_deadline, has_frozen, leave, frozen;
	int64_t deadline_ms;
	uint64_t ping;
};

struct keeper_started {
	uint64_t id;
	int32_t pid;
	struct str warning;
};

struct keeper_not_started {
	uint64_t id;
	int32_t exit_code;
	struct str reason;
};

struct keeper_kept {
	uint64_t id;
	struct str note;
	int32_t pid; /* 0: none of its own */
	int64_t started_ms, started_mono_ms;
	const struct keeper_over *over; /* NULL: it runs */
	uint32_t n_fds;
	bool has_result;
	uint64_t mark; /* 0: none */
};

struct from_keeper {
	const struct keeper_opened *opened;
	const struct keeper_started *started;
	const struct keeper_not_started *not_started;
	const struct keeper_over *over;
	const struct keeper_kept *kept;
	bool all_kept, froze;
	uint64_t pong;
};

void to_keeper_encode(const struct to_keeper *m, struct arena *a, struct buf *out);
int to_keeper_decode(
    struct str bytes, struct arena *a, struct to_keeper *ret, struct problem *ret_problem);
void from_keeper_encode(const struct from_keeper *m, struct arena *a, struct buf *out);
int from_keeper_decode(
    struct str bytes, struct arena *a, struct from_keeper *ret, struct problem *ret_problem);

#endif
