/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker: dials the server, runs what it is told to, reports the ends. worker_main() returns
 * when it has drained after SIGTERM or SIGINT, or has to give up. Whoever calls it has filled the
 * options (configuration is read elsewhere); strings are borrowed for the length of the call.
 */
#ifndef WORKER_WORKER_H
#define WORKER_WORKER_H

#include "base/err.h"
#include "base/str.h"
#include "net/loop/tls.h"

enum plugin_mode { PLUGIN_ONCE, PLUGIN_PERSISTENT };

/* A plugin on this worker's allow-list, besides the built-in "command". */
struct plugin_options {
	const char *name;
	const char *const *exec; /* argv, NULL-terminated */
	const char *const *env;  /* "KEY=value", NULL-terminated; NULL: none */
	enum plugin_mode mode;
	int processes;          /* persistent: at most so many (0: the number of cores) */
	int recycle_after;      /* persistent: tasks after which a process is replaced (0: never) */
	int64_t recycle_memory; /* persistent: resident bytes beyond which it is (0: never) */
};

struct worker_options {
	const char *server; /* "host:port" */
	bool use_tls;
	struct tls_files tls;
	const char *join_token;       /* NULL: none */
	const char *shard;            /* lasting name; NULL: the host name */
	const char *state_dir;        /* made when missing; one worker at a time */
	const char *zone;             /* NULL: none */
	const char *target;           /* NULL: "x86_64-linux" as the machine is */
	const char *const *labels;    /* "key=value", NULL-terminated; all lists may be NULL */
	const char *cpu;              /* cores that it offers; NULL: as many as it finds */
	int64_t memory, disk;         /* bytes that it offers; 0: what it finds */
	const char *const *resources; /* "name=amount" that it offers beside these */
	const char *ports;            /* "20000-29999", that attempts are given; NULL: none */
	const char *address;          /* where instances can be reached; NULL: as we dial from */
	int instances;                /* of services, that it offers room for */
	const char *const *active_queues;
	const char *const *ignore_queues;
	const struct plugin_options *plugins;
	size_t n_plugins;
	bool no_command;           /* do not allow the built-in "command" plugin */
	int maxthreads;            /* -1: no limit */
	int64_t term_wait_ms;      /* between TERM and KILL (0: 10 s) */
	int64_t hello_wait_ms;     /* for a persistent plugin's hello (0: 10 s) */
	bool no_cgroup;            /* use process groups even where cgroups are available */
	bool keep_tasks;           /* tasks outlive us, and the next worker takes them over */
	int64_t spool_bytes;       /* of output put aside, per stream; 0: 16 MiB */
	const char *user;          /* whom we become, having made the keeper; NULL: we stay */
	const char *const *run_as; /* users whom tasks may name */
	const char *const *run_as_groups;
	const char *const *run_as_capabilities; /* what tasks of others than root may keep */
	const char *const *sandbox_hide;        /* paths that are empty inside every sandbox */
	bool restart_when_lost;    /* come back as a new instance, instead of leaving for good */
	const char *trace_shiviz;  /* a file to append a trace to; NULL: none */
	const char *check_program; /* what a healthcheck starts; NULL: true(1) */
	/* For programs that run a worker inside: ready when the server has welcomed it. Optional.
	 */
	void (*on_ready)(void *arg);
	void *arg;
	/* For the one who read the configuration: SIGHUP, and the token is about to be shown; both
	 * may change join_token. Optional. */
	void (*on_hangup)(void *arg);
	void (*on_knock)(void *arg);
	void *config_arg;
	/* Optional: an open descriptor; when it becomes readable or closes the worker drains, as
	 * on SIGTERM. -1 or 0: none. */
	int stop_fd;
};

#define WORKER_AGAIN 64

/*
 * 0: drained and left; 1: failed or had to give up (the log says why). WORKER_AGAIN: everything is
 * over and the lock is free, and it is wanted back as a new instance.
 */
int worker_main(const struct worker_options *o);

#endif
