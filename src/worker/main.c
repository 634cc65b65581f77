/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's shell: events into the brain, its effects out into the world, from start to end. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "base/world/log.h"
#include "worker/internal.h"

#define OPEN_FILES 65536
#define FREEZE_WAIT_MS 2000
#define KEEPER_WAIT_MS 12000 /* for what does not want to die */

/* Runs on while the machine sleeps: the server's patience does, too. */
int64_t worker_mono_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void on_exit_effect(struct worker *w, const struct agent_effect *e)
{
	w->exit_code = e->why.code;
	w->again = e->why.restart;
	if (e->why.code)
		log_error("leaving: " STR_FMT, STR_ARG(e->why.text));
	else
		log_info("leaving: " STR_FMT, STR_ARG(e->why.text));
	outbox_flush(w);
	loop_stop(w->loop);
}

static void carry_out(struct worker *w, const struct agent_effect *e)
{
	char id[ID_TEXT];

	worker_trace_effect(w, e);
	switch (e->kind) {
	case AF_HELLO: outbox_hello(w, e->hello); break;
	case AF_BEAT:
	case AF_STARTED:
	case AF_HEALTH:
	case AF_INPUT_ACK:
	case AF_OUTPUT:
	case AF_ENDED:
	case AF_CHECKED:
	case AF_NOTIFIED: outbox_add(w, e); break;
	case AF_CHECK: check_start(w, e->check); break;
	case AF_START: run_start(w, e->run); break;
	case AF_STOP: job_stop(w, e); break;
	case AF_READ: job_read(w, e); break;
	case AF_INPUT: job_input_write(w, e); break;
	case AF_FORGET: job_forget(w, e); break;
	case AF_CLOSE:
		session_close(w, arena_printf(&w->queue_arena, STR_FMT, STR_ARG(e->why.text)));
		break;
	case AF_EXIT: on_exit_effect(w, e); break;
	case AF_NOTE:
		if (e->task)
			log_warn("task %s: " STR_FMT, id_format(&w->ids, e->task, id),
			    STR_ARG(e->why.text));
		else
			log_warn(STR_FMT, STR_ARG(e->why.text));
		break;
	}
}

static void step(struct worker *w, struct agent_event *e)
{
	e->now_ms = clock_wall_ms();
	e->mono_ms = worker_mono_ms();
	agent_effects_reset(&w->effects);
	agent_step(w->agent, e, &w->effects);
	for (size_t i = 0; i < w->effects.n; i++)
		carry_out(w, &w->effects.items[i]);
}

/* Only events of the hands come up while the brain is busy: their strings are few and short. */
static void enqueue(struct worker *w, const struct agent_event *e)
{
	struct queued_event *q = arena_alloc(&w->queue_arena, sizeof *q);

	*q = (struct queued_event){.e = *e};
	if (e->kind == AE_EXITED) {
		q->e.exit.reason = arena_str(&w->queue_arena, e->exit.reason);
		q->e.exit.result = arena_str(&w->queue_arena, e->exit.result);
	}
	if (e->kind == AE_CHECKED)
		q->e.checked.reason = arena_str(&w->queue_arena, e->checked.reason);
	if (e->kind == AE_UNWELL)
		q->e.unwell = arena_str(&w->queue_arena, e->unwell);
	if (e->kind == AE_FARES) {
		q->e.fares.address = arena_str(&w->queue_arena, e->fares.address);
		q->e.fares.ports = arena_str(&w->queue_arena, e->fares.ports);
	}
	if (e->kind == AE_OUTPUT)
		q->e.output.data = arena_str(&w->queue_arena, e->output.data);
	*w->queue_tail = q;
	w->queue_tail = &q->next;
}

void worker_feed(struct worker *w, struct agent_event e)
{
	struct queued_event *q;

	if (w->stepping) {
		enqueue(w, &e);
		return;
	}
	w->stepping = true;
	step(w, &e);
	while ((q = w->queue)) {
		w->queue = q->next;
		if (!w->queue)
			w->queue_tail = &w->queue;
		step(w, &q->e);
	}
	arena_reset(&w->queue_arena);
	w->stepping = false;
	loop_deferred_arm(w->flush);
}

void worker_exited(struct worker *w, rid task, int64_t token, struct agent_exit x)
{
	worker_feed(
	    w, (struct agent_event){.kind = AE_EXITED, .task = task, .token = token, .exit = x});
}

void worker_output(struct worker *w, const struct job *j, int stream, struct str data)
{
	worker_feed(w,
	    (struct agent_event){
	        .kind = AE_OUTPUT, .task = j->task, .token = j->token, .output = {stream, data}});
}

static void on_wake(void *arg)
{
	worker_feed(arg, (struct agent_event){.kind = AE_WAKE});
}

static void on_redial(void *arg)
{
	struct worker *w = arg;

	if (agent_phase(w->agent) == AGENT_SERVING || agent_phase(w->agent) == AGENT_LEAVING)
		session_dial(w);
}

/* Should we be stopped past the moment when all must be over, the keeper sees to it. */
static void tell_keeper(struct worker *w)
{
	int64_t by = agent_give_up_ms(w->agent);

	if (by != INT64_MAX)
		by += w->timeouts.kill_wait_ms;
	keeper_deadline(&w->keeper, by);
}

/* The end of a turn: one frame out, the plugins' frames out, the alarm set. */
static void on_flush(void *arg)
{
	struct worker *w = arg;
	int64_t wake = agent_wake_ms(w->agent), now = worker_mono_ms();

	pools_flush(w);
	outbox_end_turn(w);
	if (agent_phase(w->agent) != AGENT_SERVING && !agent_will_return(w->agent))
		notify_stopping(w->notify);
	tell_keeper(w);
	keeping_flush(w);
	loop_timer_set(w->wake, wake == INT64_MAX ? -1 : wake > now ? wake - now : 0);
}

static void on_signal(int signo, void *arg)
{
	struct worker *w = arg;

	if (w->keeper.keeps && access(w->keeper_socket, F_OK) == 0 && signo != SIGQUIT &&
	    agent_phase(w->agent) == AGENT_SERVING) {
		log_info("signal %d: leaving; the tasks go on, and the next worker takes them over",
		    signo);
		notify_stopping(w->notify);
		w->detached = true;
		w->exit_code = 0;
		outbox_flush(w);
		loop_stop(w->loop);
		return;
	}
	log_info("signal %d: %s", signo,
	    agent_phase(w->agent) == AGENT_SERVING && signo != SIGQUIT
	        ? "ending the tasks, and leaving"
	        : "ending everything at once");
	worker_feed(w, (struct agent_event){.kind = AE_LEAVE});
	if (signo == SIGQUIT)
		worker_feed(w, (struct agent_event){.kind = AE_LEAVE});
}

/* Ctrl-Z: the tasks stand still with us, and go on with us. Their lease does not wait. */
static void on_suspend(int signo, void *arg)
{
	struct worker *w = arg;

	keeper_freeze(&w->keeper, true, FREEZE_WAIT_MS);
	raise(SIGSTOP);
	keeper_freeze(&w->keeper, false, 0);
}

/* Logs are rotated, certificates renewed: what is open is opened anew. */
static void on_hangup(int signo, void *arg)
{
	struct worker *w = arg;
	struct problem p = {0};

	notify_reloading(w->notify);
	if (w->o->on_hangup)
		w->o->on_hangup(w->o->config_arg);
	if (log_reopen() < 0)
		log_error("the log could not be opened anew");
	if (w->tls && tls_reload(w->tls, &p) < 0)
		log_error("%s; the old certificates stay in use", p.what);
	notify_ready(w->notify);
}

static void on_stop_fd(int fd, bool readable, bool writable, void *arg)
{
	struct worker *w = arg;

	loop_watch_free(w->stop_watch);
	w->stop_watch = NULL;
	worker_feed(w, (struct agent_event){.kind = AE_LEAVE});
}

/* Two pipes per task add up. */
static void raise_file_limit(struct worker *w)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) < 0 || r.rlim_cur >= OPEN_FILES ||
	    r.rlim_cur >= r.rlim_max)
		return;
	w->open_files = (int)r.rlim_cur;
	r.rlim_cur = r.rlim_max < OPEN_FILES ? r.rlim_max : OPEN_FILES;
	if (setrlimit(RLIMIT_NOFILE, &r) < 0)
		w->open_files = 0;
}

static int prepare(struct worker *w, struct problem *p)
{
	int r;

	if ((r = lock_take(w, p)) < 0)
		return r;
	w->spool_dir = xasprintf("%s/spool", w->o->state_dir);
	if (w->o->keep_tasks)
		w->keeper_socket = xasprintf("%s/keeper.sock", w->o->state_dir);
	if ((r = ports_open(&w->ports, w->o->ports, p)) < 0 || (r = facts_gather(w, p)) < 0)
		return r;
	prctl(PR_SET_CHILD_SUBREAPER, 1); /* should the keeper die, its orphans are ours to end */
	/* early, while we are small; what an earlier instance left running is ended by it */
	if ((r = keeping_open(w, p)) < 0)
		return r;
	raise_file_limit(w);
	if ((r = rights_give_up(w, p)) < 0)
		return r;
	hidden_gather(w); /* with the rights that the tasks will have */
	if ((r = worker_trace_open(w, p)) < 0)
		return r;
	if (w->o->use_tls && !(w->tls = tls_client(&w->o->tls, p)))
		return p->code ? p->code : ERR_IO;
	return 0;
}

static void open_loop(struct worker *w)
{
	struct agent_options o = {.term_wait_ms = w->o->term_wait_ms,
	    .restart_when_lost = w->o->restart_when_lost,
	    .dials_before = (uint64_t)w->keeper.opened.adoptions << 32};

	w->rng.state = clock_random();
	w->agent = agent_new(&o);
	w->loop = loop_new_at_once();
	w->notify = notify_new(w->loop);
	w->wake = loop_timer_new(w->loop, on_wake, w);
	w->redial = loop_timer_new(w->loop, on_redial, w);
	outbox_open(w);
	w->flush = loop_deferred_new(w->loop, on_flush, w);
	w->signals[0] = loop_signal_new(w->loop, SIGTERM, on_signal, w);
	w->signals[1] = loop_signal_new(w->loop, SIGINT, on_signal, w);
	w->signals[2] = loop_signal_new(w->loop, SIGQUIT, on_signal, w);
	w->signals[3] = loop_signal_new(w->loop, SIGHUP, on_hangup, w);
	w->signals[4] = loop_signal_new(w->loop, SIGTSTP, on_suspend, w);
	if (w->o->stop_fd > 0) {
		w->stop_watch = loop_watch_new(w->loop, w->o->stop_fd, on_stop_fd, w);
		loop_watch_set(w->stop_watch, true, false);
	}
	keeping_watch(w);
	pools_open(w);
	adopt_all(w);
}

static void close_loop(struct worker *w)
{
	w->closing = true;
	if (w->detached)
		jobs_leave(w);
	pools_close(w);
	check_close(w);
	if (w->link) {
		link_close(w->link, "leaving");
		loop_run(w->loop); /* until it is closed */
	}
	loop_timer_free(w->wake);
	loop_timer_free(w->redial);
	loop_timer_free(w->outbox.patience);
	loop_deferred_free(w->flush);
	for (int i = 0; i < 5; i++)
		loop_signal_free(w->signals[i]);
	if (w->stop_watch)
		loop_watch_free(w->stop_watch);
	notify_free(w->notify);
	if (w->keeper_watch)
		loop_watch_free(w->keeper_watch);
	if (w->keeper_ping)
		loop_timer_free(w->keeper_ping);
	loop_free(w->loop);
	agent_free(w->agent);
}

static void release(struct worker *w)
{
	worker_trace_close(w);
	agent_effects_release(&w->effects);
	outbox_release(&w->outbox);
	idmap_release(&w->jobs);
	jobs_forget_all(w);
	arena_release(&w->facts_arena);
	arena_release(&w->frame_arena);
	arena_release(&w->queue_arena);
	if (w->tls)
		tls_free(w->tls);
	free(w->lock);
	free(w->lock_mark);
	explicit_bzero(w->secret, sizeof w->secret);
	free(w->scratch);
	free(w->keeper_socket);
	free(w->spool_dir);
	process_close(&w->filter_fd);
	process_close(&w->lock_fd);
}

/* The next instance shall find what we found. */
static void restore_limits(const struct worker *w)
{
	struct rlimit r;

	if (w->open_files <= 0 || getrlimit(RLIMIT_NOFILE, &r) < 0)
		return;
	r.rlim_cur = (rlim_t)w->open_files;
	setrlimit(RLIMIT_NOFILE, &r);
}

int worker_main(const struct worker_options *o)
{
	struct worker w = {
	    .o = o, .lock_fd = -1, .exit_code = 1, .filter_fd = -1, .keeper.talk.fd = -1};
	struct problem p = {0};

	timeouts_default(&w.timeouts);
	w.queue_tail = &w.queue;
	w.scratch = xmalloc(SCRATCH_BYTES);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a full spool is an error like others */
	if (prepare(&w, &p) < 0) {
		log_error("%s%s%s", p.what, p.hint[0] ? "; " : "", p.hint);
	} else {
		open_loop(&w);
		log_info("worker " STR_FMT " dials %s", STR_ARG(w.facts.shard), o->server);
		session_dial(&w);
		/* A server that is away keeps no machine from starting: we dial until it is there.
		 */
		notify_ready(w.notify);
		loop_run(w.loop);
		close_loop(&w);
	}
	keeper_close(&w.keeper, !w.detached, KEEPER_WAIT_MS);
	release(&w);
	restore_limits(&w);
	if (!w.again)
		return w.broken ? 1 : w.exit_code;
	return WORKER_AGAIN;
}
