/* SPDX-License-Identifier: Apache-2.0 */
/* Stories about the worker's brain: what can happen in them, and how it is told. */
#include "story.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "service/life/container.h"

#define WALL 1000000 /* wall clock = monotonic + this */

const struct timeouts usual = {10000, 30000, 20000, 20000, 60000, 5000, 5000};

const struct link_run plain_run = {.attempt = 1,
    .max_attempts = 1,
    .queue = {"q", 1},
    .plugin = {"command", 7},
    .body = {"{}", 2},
    .output_mode = OUTPUT_MODE_AUTO};

struct agent *agent;
struct agent_effects effects;
struct buf told;
int64_t mono;
static uint64_t run_number; /* on this link */

static void tell_refs(const struct link_held *refs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_printf(&told, " %d/%d%s%s", (int)refs[i].task, (int)refs[i].token,
		    refs[i].ended ? " over" : "", refs[i].started_ms ? "" : " unstarted");
}

static void tell_set(const struct set_id *set)
{
	if (set->server)
		buf_printf(&told, " set %d.%d", (int)set->server, (int)set->version);
}

static void tell_ended(const struct agent_effect *e)
{
	buf_printf(
	    &told, "ended %d/%d %d", (int)e->ended->task, (int)e->ended->token, e->ended->status);
	if (e->ended->exit_code >= 0)
		buf_printf(&told, " code %d", e->ended->exit_code);
	buf_printf(&told, "%s%s%s", e->ended->killed ? " killed" : "",
	    e->ended->permanent ? " permanent" : "", e->ended->started_ms ? "" : " unstarted");
	if (e->ended->output_where == OUTPUT_INLINE)
		buf_printf(&told, " <" STR_FMT "|" STR_FMT ">", STR_ARG(e->ended->output[0]),
		    STR_ARG(e->ended->output[1]));
	if (e->ended->output_where == OUTPUT_CHUNKS)
		buf_printf(&told, " %d bytes", (int)e->ended->output_bytes[0]);
	if (e->ended->output_dropped[0])
		buf_printf(&told, " dropped %d", (int)e->ended->output_dropped[0]);
	if (e->ended->reason.p)
		buf_printf(&told, " (" STR_FMT ")", STR_ARG(e->ended->reason));
}

static void tell_health(const struct link_health *h)
{
	buf_printf(&told, "health %d %s%s%s " STR_FMT ":%.*s", (int)h->task,
	    container_state_names[h->fares.container], h->fares.is_up ? " up" : "",
	    h->fares.is_ready ? " ready" : "", STR_ARG(h->fares.address),
	    (int)strcspn(h->fares.ports.p, "\n"), h->fares.ports.p);
}

static void tell(const struct agent_effect *e)
{
	if (e->kind == AF_FORGET)
		return; /* it follows from the acknowledgement; stories would only get longer */
	if (told.n)
		buf_add_cstr(&told, "; ");
	switch (e->kind) {
	case AF_HELLO:
		buf_add_cstr(&told, "hello");
		tell_refs(e->hello->tasks, e->hello->n_tasks);
		tell_set(&e->hello->set);
		break;
	case AF_BEAT:
		buf_printf(
		    &told, "beat %d%s", (int)e->beat.number, e->beat.leaving ? " leaving" : "");
		if (e->beat.own != WORKER_HEALTHY)
			buf_printf(&told, " %s", worker_state_names[e->beat.own]);
		tell_set(&e->beat.set);
		break;
	case AF_CHECK: buf_printf(&told, "check %d", (int)e->check); break;
	case AF_CHECKED:
		buf_printf(
		    &told, "checked %d %s", (int)e->checked.number, e->checked.ok ? "ok" : "");
		buf_add_str(&told, e->checked.reason);
		break;
	case AF_NOTIFIED:
		buf_printf(&told, "notified %d", (int)e->notified.seq);
		tell_refs(e->notified.held, e->notified.n_held);
		buf_add_cstr(&told, " |");
		for (size_t i = 0; i < e->notified.n_absent; i++)
			buf_printf(&told, " %d/%d", (int)e->notified.absent[i].task,
			    (int)e->notified.absent[i].token);
		break;
	case AF_STARTED: buf_printf(&told, "started %d", (int)e->started.task); break;
	case AF_HEALTH: tell_health(&e->health); break;
	case AF_OUTPUT:
		buf_printf(&told, "output %d %d@%d+%d", (int)e->output.task, e->output.stream,
		    (int)e->output.offset, e->output.raw_bytes);
		break;
	case AF_INPUT_ACK:
		buf_printf(&told, "wants %d@%d", (int)e->input_ack.task, (int)e->input_ack.end);
		break;
	case AF_INPUT:
		buf_printf(&told, "write %d@%d+%d%s", (int)e->task, (int)e->input.offset,
		    (int)e->input.data.n, e->input.end ? " end" : "");
		break;
	case AF_ENDED: tell_ended(e); break;
	case AF_START: buf_printf(&told, "start %d/%d", (int)e->task, (int)e->token); break;
	case AF_STOP: buf_printf(&told, "%s %d", e->kill ? "KILL" : "TERM", (int)e->task); break;
	case AF_READ: buf_printf(&told, "%s %d", e->read ? "read" : "pause", (int)e->task); break;
	case AF_CLOSE: buf_add_cstr(&told, "close"); break;
	case AF_EXIT:
		buf_printf(&told, "exit %d%s", e->why.code, e->why.restart ? " restart" : "");
		break;
	case AF_NOTE: buf_add_cstr(&told, "note"); break;
	case AF_FORGET: break;
	}
}

int step(struct agent_event in)
{
	int r;

	in.mono_ms = mono;
	in.now_ms = mono + WALL;
	agent_effects_reset(&effects);
	buf_reset(&told);
	r = agent_step(agent, &in, &effects);
	for (size_t i = 0; i < effects.n; i++)
		tell(&effects.items[i]);
	return r;
}

void up(void)
{
	run_number = 0;
	step((struct agent_event){.kind = AE_LINK_UP});
}

void down(void)
{
	step((struct agent_event){.kind = AE_LINK_DOWN});
}

int welcome_by(uint64_t server, struct timeouts t, struct link_news news, uint64_t seq)
{
	return step((struct agent_event){.kind = AE_WELCOME,
	    .welcome = {.server = server,
	        .timeouts = t,
	        .news = news,
	        .notify_seq = seq,
	        .maxthreads = -1}});
}

void welcome(void)
{
	welcome_by(1, usual, (struct link_news){0}, 0);
}

void tick_at(int64_t at)
{
	mono = at;
	step((struct agent_event){.kind = AE_WAKE});
}

void run_with(rid task, int64_t token, struct link_run r)
{
	run_number = r.number ? r.number : run_number + 1;
	r.number = run_number;
	r.task = task;
	r.token = token;
	step((struct agent_event){.kind = AE_RUN, .run = &r});
}

void run(rid task, int64_t token)
{
	run_with(task, token, plain_run);
}

void started(rid task, int64_t token)
{
	step((struct agent_event){.kind = AE_STARTED, .task = task, .token = token, .pid = 99});
}

void exited(rid task, int64_t token, int code)
{
	step((struct agent_event){.kind = AE_EXITED,
	    .task = task,
	    .token = token,
	    .exit = {EXIT_CODE, 0, code, 0, STR_NULL}});
}

void signalled(rid task, int64_t token, int signal)
{
	step((struct agent_event){.kind = AE_EXITED,
	    .task = task,
	    .token = token,
	    .exit = {EXIT_SIGNAL, 0, -1, signal, STR_NULL}});
}

void wrote(rid task, int64_t token, size_t n)
{
	char *bytes = memset(xmalloc(n), 'x', n);

	step((struct agent_event){
	    .kind = AE_OUTPUT, .task = task, .token = token, .output = {STDOUT, {bytes, n}}});
	free(bytes);
}

void acked(rid task, int64_t token)
{
	step((struct agent_event){.kind = AE_ENDED_ACK, .ended_ack = {task, token}});
}

void output_acked(rid task, int64_t token, int64_t end)
{
	step((struct agent_event){
	    .kind = AE_OUTPUT_ACK, .output_ack = {task, token, STDOUT, end, false}});
}

int beat_acked(uint64_t number)
{
	return step((struct agent_event){.kind = AE_BEAT_ACK, .beat_ack = {.number = number}});
}

void news(struct link_news n)
{
	step((struct agent_event){.kind = AE_BEAT_ACK, .beat_ack = {0, n}});
}

int check(uint64_t number, uint64_t beat)
{
	return step((struct agent_event){.kind = AE_CHECK, .check = {number, beat}});
}

int checked(uint64_t number, bool ok)
{
	return step((struct agent_event){
	    .kind = AE_CHECKED, .checked = {number, ok, ok ? STR_NULL : STR("fork: no memory")}});
}

void notify(uint64_t seq, const struct run_ref *refs, size_t n)
{
	step((struct agent_event){.kind = AE_NOTIFY, .notify = {seq, refs, n}});
}

void refused(bool die, bool restart)
{
	step((struct agent_event){
	    .kind = AE_REFUSED, .refused = {STR("because"), .die = die, .restart = restart}});
}

void kill_task(rid task, int64_t token, bool forget)
{
	step((struct agent_event){
	    .kind = AE_KILL, .kill = {task, token, STR("cancelled by root"), .forget = forget}});
}

void leave(void)
{
	step((struct agent_event){.kind = AE_LEAVE});
}

void begin(const struct agent_options *o)
{
	agent_free(agent);
	agent = agent_new(o);
	mono = 1000;
}

int setup(void **state)
{
	begin(&(struct agent_options){.term_wait_ms = 5000});
	return 0;
}

int teardown(void **state)
{
	agent_free(agent);
	agent = NULL;
	agent_effects_release(&effects);
	buf_release(&told);
	return 0;
}

void join(void)
{
	up();
	welcome();
	check(1, 0);
	checked(1, true);
	news((struct link_news){.state = WORKER_HEALTHY, .check = 1});
	assert_int_equal(agent_health(agent), WORKER_HEALTHY);
}
