/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a worker and a server say to each other: the words of docs/PROTOCOL.md, declared once. Both
 * brains take and give these structs, the codec (wire/link/link.h) writes and reads them, and the
 * simulator carries them as they are. What only one side's shell can know (who the worker is, the
 * ids' installation, a receipt and whether it holds) is filled in by that shell.
 */
#ifndef MODEL_LINK_H
#define MODEL_LINK_H

#include "base/arena.h"
#include "model/link/receipt.h"
#include "model/objects/worker.h"
#include "model/task/task.h"

/* An attempt: a task and the token of one try at it. A task's tokens only rise. */
struct run_ref {
	rid task;
	int64_t token;
};

/* Whose start an attempt is, if it is the start of a service's instance. The worker gives it back
 * as it was told, so that a server that knows nothing of it can write it down. */
struct link_instance {
	struct str service; /* NULL: the attempt is none of an instance */
	struct str domain;  /* NULL: the service is in none */
	uint32_t index;
	int64_t revision;
	struct str need; /* what it was charged with: model/task/need.h; NULL: nothing */
};

/* How an instance that was started fares. Said when it changes, and in every hello. */
struct link_fares {
	int32_t container;  /* enum container_state: service/life/container.h */
	bool is_up;         /* its startup check has passed, or it has none */
	bool is_ready;      /* for traffic; only of what is up */
	struct str address; /* where it can be reached; NULL: not known */
	struct str ports;   /* lines of numbers, in the order of the service's; NULL: none */
};

/* Of an attempt, by the worker that was given it. */
struct link_held {
	rid task;
	int64_t token;
	bool ended;         /* over; only waits to be acknowledged */
	int64_t started_ms; /* 0: not started */
	bool proven;        /* the server's shell says so: its receipt holds. Never sent */
	struct receipt receipt;
	struct link_instance instance;
	struct str queue;        /* of an instance: its name */
	struct link_fares fares; /* of an instance that has started */
};

/* The worker to the server. */

struct link_hello {
	uint32_t protocol;
	struct worker_facts facts;     /* labels come sorted, lists without repeats */
	const struct link_held *tasks; /* all it has: answers the running-tasks query ahead */
	size_t n_tasks;
	struct set_id set;   /* the last one it was told, by whomever; server 0: none */
	uint64_t dial;       /* which of this instance's connections, from 1; 0: it does not say */
	bool drops_receipts; /* the worker cannot prove what no row tells of */
	bool takes_input;    /* the worker takes streamed input */
	bool takes_needs;    /* the worker can show a job what it needs */
	bool takes_services; /* the worker can have instances of services */
};

struct link_beat {
	uint64_t number;
	bool leaving;          /* the worker takes no more runs */
	enum worker_state own; /* how it sees itself */
	struct set_id set;     /* the last one it was told */
};

struct link_checked {
	uint64_t number; /* of the healthcheck */
	bool ok;
	struct str reason; /* when not ok; NULL: none */
};

struct link_notified { /* answers a notify */
	uint64_t seq;
	const struct link_held *held, *absent; /* absent: not here, and never will be */
	size_t n_held, n_absent;
};

struct link_started {
	rid task;
	int64_t token;
	int64_t started_ms;
	int32_t pid; /* 0: none of its own */
};

struct link_health { /* how an instance fares now: see struct link_fares */
	rid task;
	int64_t token;
	struct link_fares fares;
};

struct link_ended {
	rid task;
	int64_t token;
	int32_t status, exit_code, signal; /* exit_code -1: none */
	struct str reason;                 /* NULL: none */
	int64_t started_ms;                /* 0: no process was ever made for this attempt */
	int64_t ended_ms;
	bool killed, permanent;       /* because of a kill; no further attempt */
	int32_t output_where;         /* enum output_where */
	struct str output[N_STREAMS]; /* with OUTPUT_INLINE */
	int64_t output_bytes[N_STREAMS], output_dropped[N_STREAMS];
	struct usage usage;
	struct str result; /* any bytes, at most RESULT_FILE_MAX; NULL: none */
};

/* The server to the worker. */

struct link_news { /* what the server thinks of the worker */
	enum worker_state state;
	struct set_id set; /* server 0: none */
	uint64_t check;    /* the last healthcheck that counts; 0: none yet */
};

struct link_welcome {
	rid worker;
	struct id_space ids;
	uint64_t server; /* the process that speaks */
	struct timeouts timeouts;
	struct link_news news;
	uint64_t notify_seq; /* runs with a lower one are stale */
	int32_t maxthreads;  /* in force; -1: no limit */
};

struct link_refused {
	struct str reason;
	bool die, restart; /* end all; it may come back as a new instance */
};

struct link_settings {
	int32_t maxthreads;  /* in force; -1: no limit */
	bool leave, restart; /* drain and go; and come back as a new instance */
};

struct link_beat_ack {
	uint64_t number; /* 0: not an answer, only news */
	struct link_news news;
};

struct link_output_ack {
	rid task;
	int64_t token;
	int32_t stream;
	int64_t end; /* everything before it is durable */
	bool refused;
};

struct link_follow { /* somebody reads along: output shall come at once */
	rid task;
	int64_t token;
	int64_t for_ms; /* 0: nobody any more */
};
#define FOLLOW_MAX_MS 600000

struct link_input_ack {
	rid task;
	int64_t token;
	int64_t end; /* so much was given to the process: what follows is wanted */
};

struct link_input {
	rid task;
	int64_t token;
	int64_t offset;
	struct str data; /* empty only with end */
	bool end;        /* nothing follows */
};

/* What a job is shown of one that it needs. */
struct link_need {
	rid task;
	struct str job;                     /* the job's name; NULL: it has none */
	struct str state;                   /* of the job: see job_state_names */
	struct str worker;                  /* the job's last; NULL: none, or not known any more */
	struct str host, target;            /* of that worker, as it last said; NULL: not known */
	int32_t attempt, exit_code, signal; /* exit_code -1: none */
	int64_t started_ms, ended_ms;       /* 0: never */
	struct str reason, result;          /* NULL: none */
	bool is_cut;                        /* the job left a result, which is not here */
};

struct link_run {
	rid task;
	int64_t token;
	int32_t attempt, max_attempts;
	struct str queue, plugin;
	struct str body;         /* JSON object */
	struct str env;          /* JSON object of the queue; NULL: none */
	struct str run_settings; /* JSON object of the queue: its `run`; NULL: none */
	int64_t timeout_ms;      /* 0: none */
	int64_t output_max;      /* 0: the default */
	int32_t output_mode;
	bool exit_codes;
	uint64_t number;     /* on this link, from 1: a replay is known by it */
	uint64_t notify_seq; /* older than the worker's: it is refused */
	struct receipt receipt;
	bool is_streamed; /* standard input comes by link_input */
	/* of a job: what it needs and has something to say, and how many more there are */
	const struct link_need *needs;
	size_t n_needs, needs_left_out;
	struct link_instance instance; /* whose start it is, if it is one */
	uint32_t n_ports;              /* so many ports it shall have */
	/* how it wants to be ended: the worker's shell finds it in the settings. Never sent */
	int32_t kill_method; /* enum kill_method */
	bool kill_wait_given;
	int64_t kill_wait_ms; /* between TERM and KILL, if given; else the worker's */
};

struct link_kill {
	rid task;
	int64_t token;
	struct str reason; /* NULL: none */
	bool forget;       /* nobody waits for its end */
};

struct link_notify { /* which of these are not here? */
	uint64_t seq;
	const struct run_ref *refs;
	size_t n_refs;
};

struct link_check {
	uint64_t number;
	uint64_t beat; /* the newest beat heard on this link; 0: only the hello */
};

/*
 * What one frame to a worker may hold (struct link_to_worker: wire/link/link.h), in the order in
 * which the parts are handled, whatever order they were added in: acknowledgements make room for
 * runs, a kill may follow its run, and the question after attempts comes when everything that was
 * sent before it is there.
 */
#define LINK_TO_WORKER_ORDER(X) \
	X(welcome)              \
	X(refused)              \
	X(settings)             \
	X(beat_ack)             \
	X(ended_ack)            \
	X(output_ack)           \
	X(input)                \
	X(run)                  \
	X(kill)                 \
	X(follow)               \
	X(notify)               \
	X(check)

/* The strings of such a struct, by their places in it (link.c): copies of it go by them. */
struct link_strings {
	const uint16_t *at;
	size_t n;
};
extern const struct link_strings link_held_strings, link_run_strings, link_need_strings;

static inline struct str *link_string(void *of, const struct link_strings *strings, size_t i)
{
	return (struct str *)((char *)of + strings->at[i]);
}

/* Deep copies. A run's has its needs, too. */
struct link_held *link_held_copy(struct arena *a, const struct link_held *from, size_t n);
struct link_run *link_run_copy(struct arena *a, const struct link_run *from);

#endif
