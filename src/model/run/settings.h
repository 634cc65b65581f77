/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a task's process is to be run, limited, watched and ended: the object `run` of a task or a
 * queue. The task's members win over the queue's, member by member; what neither says is the
 * default. Limits and sandbox of the queue are bounds: there the stricter holds. docs/RUNNING.md is
 * written for users and gives the reasons for the defaults.
 */
#ifndef MODEL_SETTINGS_H
#define MODEL_SETTINGS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum kill_method { KILL_TERM_WAIT_KILL, KILL_TERM, KILL_KILL, N_KILL_METHODS };
enum kill_to { KILL_TO_CGROUP, KILL_TO_GROUP, KILL_TO_CHILD, N_KILL_TOS };
enum death_signal { DEATH_KILL, DEATH_TERM, DEATH_NONE, N_DEATH_SIGNALS };
enum limit_policy { LIMIT_REFUSE, LIMIT_WARN, N_LIMIT_POLICIES };   /* when the host can't */
enum output_policy { OUTPUT_SLOW, OUTPUT_DROP, N_OUTPUT_POLICIES }; /* when the spool is full */
enum check_kind { CHECK_NONE, CHECK_COMMAND, CHECK_TCP, CHECK_HTTP };

extern const char *const kill_method_names[N_KILL_METHODS];      /* term_wait_kill term kill */
extern const char *const kill_to_names[N_KILL_TOS];              /* cgroup group child */
extern const char *const death_signal_names[N_DEATH_SIGNALS];    /* kill term none */
extern const char *const limit_policy_names[N_LIMIT_POLICIES];   /* refuse warn */
extern const char *const output_policy_names[N_OUTPUT_POLICIES]; /* slow drop */

#define KILL_WAIT_DEFAULT_MS 10000
#define NICE_UNSET INT32_MIN
#define UMASK_UNSET (-1)
#define RESULT_FILE_MAX (50u << 10)
#define SANDBOX_PATHS_MAX 64
#define CAPABILITIES_MAX 41
#define CAPABILITIES_ALL ((UINT64_C(1) << CAPABILITIES_MAX) - 1)
#define SPOOL_LEAST 4096
#define OPEN_FILES_LEAST 16 /* with fewer hardly any program starts */

/* 0 is no limit; for core and the rlimits -1 is no limit, and they are set by every process. */
struct run_limits {
	int64_t memory;    /* bytes: all processes together */
	int32_t cpu_milli; /* thousandths of a core */
	int32_t pids;
	int64_t open_files; /* rlimits, per process; -1: the worker's own */
	int64_t file_size;
	int64_t core_size;
	int64_t stack_size;
	int64_t cpu_seconds;
	int32_t policy; /* enum limit_policy: of memory, cpu and pids */
};

struct run_kill {
	int32_t method;  /* enum kill_method */
	int32_t to;      /* enum kill_to; whatever is left when the leader is over is killed */
	int64_t wait_ms; /* between TERM and KILL; -1: the worker's */
};

struct run_sandbox {
	bool on;
	bool network;      /* share the host's; else a network of its own, with loopback only */
	struct str rootfs; /* NULL: the host's root, read-only */
	const struct str *writable; /* paths bound read-write; absolute */
	size_t n_writable;
	const struct str *readable; /* further paths bound read-only, for a rootfs of one's own */
	size_t n_readable;
	bool no_seccomp; /* the filter is on unless this is set */
};

struct run_check {                 /* is a long runner well? */
	int32_t kind;              /* enum check_kind */
	const struct str *command; /* argv */
	size_t n_command;
	struct str host; /* tcp, http; "127.0.0.1" */
	int32_t port;
	int32_t given_port;       /* n: the n-th of the ports that it is given; 0: `port` is it */
	struct str path;          /* http; "/" */
	int64_t start_timeout_ms; /* to be healthy for the first time; 0: none */
	int64_t start_interval_ms;
	int64_t interval_ms;
	int64_t timeout_ms;                     /* of one check */
	int32_t healthy_after, unhealthy_after; /* so many in a row */
};

struct run_checks {
	struct run_check startup;   /* until it is up: start_timeout_ms, start_interval_ms */
	struct run_check liveness;  /* from then on; it is ended when it fails */
	struct run_check readiness; /* beside that; it ends nothing */
};

struct run_settings {
	struct str user, group;   /* NULL: the worker's own */
	const struct str *groups; /* beside those of the user; NULL: only these */
	size_t n_groups;
	int32_t nice;         /* NICE_UNSET */
	int32_t umask;        /* UMASK_UNSET: 022 */
	int32_t death_signal; /* enum death_signal */
	bool same_group;      /* stay in the keeper's process group; default: leads its own */
	bool new_privs;       /* allow setuid programs to gain rights; default: no_new_privs */
	const struct str *capabilities; /* kept, by name ("net_bind_service"); all others go */
	size_t n_capabilities;
	bool keep_capabilities;  /* "all": none is dropped */
	bool limit_capabilities; /* the listed ones alone: an empty list keeps none */
	struct run_limits limits;
	struct run_kill kill;
	struct run_sandbox sandbox;
	struct run_check check;   /* startup and liveness in one */
	struct run_checks checks; /* those that are given stand before `check` */
	struct str result_file;   /* the file's content is the task's result; NULL: none */
	bool status_file;         /* Bistro: the last line written to $REEVE_STATUS_FILE counts */
	struct str input;         /* given on standard input; NULL: /dev/null */
	int32_t output_policy;    /* enum output_policy */
	int64_t spool;            /* bytes per stream kept on the worker's disk; -1: the worker's */
};

void run_settings_default(struct run_settings *ret);
/* Which looks are meant: `check` stands for startup and liveness where there are none of their own.
 */
struct run_checks run_checks_of(const struct run_settings *s);
/*
 * Holds a task's settings to its queue's limits and sandbox: of two limits the smaller, and a
 * sandbox that can be made narrower but neither wider nor be left away. ERR_INVALID, with the
 * member: it wants a root or a path that the queue's does not have.
 */
int run_settings_bind(
    const struct run_settings *queue, struct run_settings *task, struct problem *p);

#endif
