/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the worker's shell: what joins the brain (agent), the link and the processes. */
#ifndef WORKER_INTERNAL_H
#define WORKER_INTERNAL_H

#include <bsd/sys/queue.h>

#include "agent/agent.h"
#include "base/arena.h"
#include "base/data/heap.h"
#include "base/data/idmap.h"
#include "base/rng.h"
#include "base/world/machine.h"
#include "base/world/trace.h"
#include "exec/process.h"
#include "keeper/client.h"
#include "net/link/link.h"
#include "net/link/proof.h"
#include "net/loop/loop.h"
#include "net/loop/notify.h"
#include "wire/link/link.h"
#include "worker/jobs/body.h"
#include "worker/jobs/ports.h"
#include "worker/worker.h"

struct worker;
struct monitoring;
struct spool;
struct job_input;
struct check;
struct pool;
struct plug;

/* What goes into the next frame. Strings are copied: the brain's do not outlive its step. */
struct outbox {
	struct arena arena;
	struct link_to_server m;
	size_t cap_started, cap_health, cap_input_ack, cap_output, cap_ended, cap_checked,
	    cap_notified;
	struct idmap started; /* task -> place in m.started, plus one */
	size_t bytes;
	size_t output_bytes; /* before they were compressed */
	struct buf encoded;
	void *compressor;
	struct loop_timer *patience; /* starts wait so long for their ends */
	bool waits;
};

/* One attempt under way: a process of its own, or a place in a plugin's pool. */
struct job {
	TAILQ_ENTRY(job) entry; /* of its pool's waiting line, or of its plug */
	struct worker *w;
	rid task;
	int64_t token;
	/* a process of its own */
	struct kept kept;
	struct loop_watch *out_watch[N_STREAMS];
	struct spool *spools;      /* N_STREAMS of them; NULL: nothing had to be put aside yet */
	struct loop_timer *linger; /* until its pipes are watched; once over, until they are cut */
	bool lingers;
	int result_fd;          /* descriptor 3, for a plugin's or an action's outcome; -1 */
	int status_fd;          /* $REEVE_STATUS_FILE; -1 */
	int sandbox_fd;         /* where bubblewrap tells whether the command came to be; -1 */
	int sandbox_at;         /* which of the descriptors beyond the standard ones that is */
	const char *const *env; /* of a task that has a command for its check */
	const char *cwd;
	bool paused, full[N_STREAMS];
	struct loop_timer *resume; /* reading goes on; NULL: it never had to wait for that */
	struct job_input *input;   /* NULL: it is not streamed, or has ended */
	bool keeps; /* outlives us: output goes through named spools, its record is released late */
	struct arena memory;                 /* of the settings */
	const struct run_settings *settings; /* the defaults, where none are given */
	const uint16_t *ports;               /* that it was given */
	size_t n_ports;
	struct run_checks checks;      /* with these ports */
	struct monitoring *monitoring; /* NULL: nothing to watch */
	bool is_up, is_ready;          /* as its checks have it; ready: of what is up */
	bool is_instance;              /* of a service: the server wants to know that */
	/* or a pool's */
	struct pool *pool;
	struct plug *plug;        /* NULL: waits for one */
	struct buf frame;         /* to be written to it; while waiting */
	struct loop_timer *limit; /* the time limit, until it has started */
	int64_t timeout_ms;
};

TAILQ_HEAD(plugin_jobs, job);

/* An attempt that the keeper remembers until the server has acknowledged its end. */
struct record {
	struct record *next; /* another attempt of the same task */
	LIST_ENTRY(record) all;
	int64_t token;
	uint64_t kept_id;
};

struct queued_event {
	struct agent_event e;
	struct queued_event *next;
};

struct worker {
	const struct worker_options *o;
	struct loop *loop;
	struct notify *notify; /* NULL: there is no service manager */
	struct tls *tls;
	struct link *link;
	bool link_open;
	struct agent *agent;
	struct agent_effects effects;
	struct worker_facts facts;
	struct arena facts_arena;
	char *lock;
	char *lock_mark; /* what tasks see of it */
	char machine[MACHINE_MARK_MAX];
	int lock_fd;
	unsigned char secret[PROOF_KEY_BYTES]; /* of its key */
	struct keeper_client keeper;
	struct loop_watch *keeper_watch;
	struct loop_timer *keeper_ping;
	bool keeper_writing;
	char *keeper_socket; /* NULL: tasks do not outlive us */
	char *spool_dir;
	const char **hidden; /* paths that are empty inside of every sandbox */
	size_t n_hidden;
	int filter_fd;       /* the sandbox's, once made; -1 */
	bool detached;       /* leaving, and the tasks go on */
	bool broken;         /* without a keeper: leaving is a failure */
	int open_files;      /* the soft limit that we found; 0: not changed */
	struct trace *trace; /* NULL: none is wanted */
	struct trace_host *traced;
	struct buf trace_text;
	struct timeouts timeouts; /* the server's */
	struct check *check;      /* under way; NULL: none */
	struct id_space ids;
	struct outbox outbox;
	struct arena frame_arena;
	struct ports ports;   /* which of them attempts have */
	char address[256];    /* where instances can be reached; empty: not known yet */
	struct idmap jobs;    /* by task */
	struct idmap records; /* by task: what the keeper remembers for us */
	LIST_HEAD(, record) all_records;
	struct pool *pools;
	size_t n_pools;
	struct loop_timer *wake, *redial;
	struct loop_deferred *flush;
	struct loop_signal *signals[5];
	struct loop_watch *stop_watch;
	int64_t redial_ms;
	struct rng rng;
	/* events made while one is being handled */
	bool stepping;
	struct queued_event *queue, **queue_tail;
	struct arena queue_arena;
	bool ready_told, closing;
	bool again; /* as a new instance, once this one is over */
	int exit_code;
	char *scratch; /* SCRATCH_BYTES, for reading pipes */
};

#define SCRATCH_BYTES 65536

/* main.c */
int64_t worker_mono_ms(void);
/* To the brain, with its effects carried out; later, if it is busy with another. */
void worker_feed(struct worker *w, struct agent_event e);
void worker_exited(struct worker *w, rid task, int64_t token, struct agent_exit x);
void worker_output(struct worker *w, const struct job *j, int stream, struct str data);
/* facts.c */
int offer_gather(const struct worker_options *o, size_t n_ports, struct arena *a,
    struct str *ret_offer, struct problem *ret_problem); /* offer.c */
int facts_gather(struct worker *w, struct problem *ret_problem);
int lock_take(struct worker *w, struct problem *ret_problem);
int state_sync(const char *dir); /* what was renamed in it stays so, whatever happens */
/* key.c */
int key_take(struct worker *w, struct problem *ret_problem);
void key_knock(struct worker *w, struct str challenge); /* says who we are, and proves it */
/* keeping.c: waits until an earlier instance's keeper has done its work, or takes it over */
int keeping_open(struct worker *w, struct problem *ret_problem);
void keeping_watch(struct worker *w);
void keeping_flush(struct worker *w);
void keeping_wait(struct worker *w, int64_t ms, bool (*is_enough)(const struct worker *w));
/* check.c: answered by one AE_CHECKED */
void check_start(struct worker *w, uint64_t number);
void check_close(struct worker *w);
/* session.c */
void session_dial(struct worker *w);
void session_close(struct worker *w, const char *why);
/* outbox.c */
void outbox_hello(struct worker *w, const struct link_hello *from);
void outbox_add(struct worker *w, const struct agent_effect *e);
void outbox_open(struct worker *w);
void outbox_end_turn(struct worker *w);
void outbox_flush(struct worker *w);
void outbox_drop(struct outbox *o); /* the link is gone: the brain will say it all again */
void outbox_release(struct outbox *o);
/* tracing.c: nothing happens, at no cost, when no trace is wanted */
int worker_trace_open(struct worker *w, struct problem *ret_problem);
void worker_trace_close(struct worker *w);
/* Puts the clock into the frame that is about to be sent. */
void worker_trace_sent(struct worker *w, struct link_to_server *m);
void worker_trace_received(struct worker *w, const struct link_to_worker *m);
void worker_trace_effect(struct worker *w, const struct agent_effect *e);
void worker_trace_link(struct worker *w, const char *what, const char *why);
/* jobs.c */
void run_start(struct worker *w, const struct link_run *r);
void job_stop(struct worker *w, const struct agent_effect *e);
void job_read(struct worker *w, const struct agent_effect *e);
struct job *job_find(const struct worker *w, rid task, int64_t token);
struct job *job_new(struct worker *w, rid task, int64_t token);
void job_free(struct job *j);
void job_forget(struct worker *w, const struct agent_effect *e);
void job_record(struct worker *w, rid task, int64_t token, uint64_t kept_id);
void jobs_leave(struct worker *w);
void jobs_forget_all(struct worker *w); /* the records only: leaving */
/* process_job.c */
void process_job_start(struct worker *w, const struct link_run *r, const struct plugin_options *p);
void process_job_release(struct job *j);
void process_job_check(struct job *j); /* is it over? Then the brain is told */
extern const struct kept_fns process_job_fns;
/* job_output.c */
void job_output_open(struct job *j);
void job_output_watch(struct job *j);
bool job_output_drain(struct job *j); /* false: the job is gone */
void job_output_read(struct job *j, bool on);
bool job_output_cut(struct job *j); /* whoever still holds the pipes; false: the job is gone */
bool job_output_is_done(const struct job *j);
void job_output_release(struct job *j);
void job_output_remove(struct worker *w, rid task, int64_t token);
/* job_input.c: streamed input, on its way into the pipe */
void job_input_open(struct job *j);
void job_input_write(struct worker *w, const struct agent_effect *e);
void job_input_release(struct job *j);
/* launch.c: what the keeper is asked for. 0, or an exit code with a reason. */
int launch_job(struct job *j, const struct link_run *r, const struct plugin_options *p,
    const struct kept_fns *fns, char *why, size_t size);
/* What looks at a long runner, run as that one is. 0, or nothing is started, with a reason. */
int launch_check(struct job *j, const struct run_check *c, struct kept *k,
    const struct kept_fns *fns, char *why, size_t size);
/* given.c: 0, or an exit code with a reason */
int given_take_ports(struct job *j, uint32_t n, char *why, size_t size);
int given_settle_checks(struct job *j, char *why, size_t size); /* to which ports they go */
void given_environment(const struct job *j, const struct link_run *r, struct env *e);
void given_address(struct worker *w); /* there is a link: by which address are we reached? */
/* How it fares has changed: the server shall know, and who comes after us. */
void job_fares(struct job *j);
void job_marked(struct job *j, uint64_t mark); /* what an earlier worker knew */
/* job_result.c: what the process left beside its exit code; strings live in *ret_text. */
void job_result(struct job *j, struct agent_exit *x, struct buf *ret_text);
int result_file(void);
/* monitoring.c: a long runner's checks. Before, is_up and is_ready are what an earlier worker saw.
 */
void monitoring_start(struct job *j);
void monitoring_stop(struct job *j);
/* adopting.c: what outlives us, and what earlier workers left */
/* Empty: it would be too long. */
struct str note_write(
    const struct worker *w, const struct job *j, const struct link_run *r, struct buf *b);
void adopt_all(struct worker *w);
/* identity.c: as whom tasks may run; and giving up what we do not need ourselves */
int identities_gather(struct worker *w, struct keeper_options *o, struct problem *ret_problem);
int rights_give_up(struct worker *w, struct problem *ret_problem);
/* hidden.c: whoever can talk to a server can leave any sandbox */
void hidden_gather(struct worker *w);
/* ret_paths has room for n_hidden */
size_t hidden_for(const struct worker *w, bool another_user, const char **ret_paths);
void identity_environment(struct str user, struct env *e);
/* pool.c */
void pools_open(struct worker *w);
void pools_close(struct worker *w);
void pools_flush(struct worker *w); /* writes what is for the plugins */
struct pool *pool_find(const struct worker *w, struct str name);
void pool_submit(struct pool *p, const struct link_run *r);
void pool_stop(struct job *j, bool kill);
void pool_read(struct job *j, bool on);

#endif
