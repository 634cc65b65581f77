/* SPDX-License-Identifier: Apache-2.0 */
/* Processes: they start, write, end by themselves or by a signal, and their worker hears of it. */
#include <stdlib.h>

#include "base/mem.h"
#include "sim/judge/judge.h"
#include "sim/kind.h"

#define CHUNK_MOST 120

char sim_output_byte(rid task, int64_t token, int stream, int64_t offset)
{
	uint64_t h = (task ^ (uint64_t)token << 48) * 0x9e3779b97f4a7c15ull +
	             (uint64_t)(offset * 2 + stream) * 0xbf58476d1ce4e5b9ull;

	return (char)('a' + (h >> 40) % 26);
}

struct str sim_result(int64_t token)
{
	static const char text[] = "what it left in its result file";

	return (struct str){text, 1 + (size_t)token % (sizeof text - 1)};
}

static struct sim_process *find(const struct sim_worker *k, rid task, int64_t token)
{
	struct sim_process *p = k->processes;

	while (p && !(p->task == task && p->token == token && p->instance == k->instance))
		p = p->next;
	return p;
}

static bool troubled(const struct world *w)
{
	return w->o.classes & 1u << CLASS_PROCESS && !w->healed;
}

static void draw_exit(struct world *w, struct agent_exit *x)
{
	int n = (int)rng_below(&w->rng_hand, 1000);

	*x = (struct agent_exit){.kind = EXIT_CODE};
	if (n < 750)
		return;
	if (n < 900)
		x->exit_code = 1;
	else if (n < 940)
		x->exit_code = n < 910 ? 99 : n < 925 ? 100 : 111;
	else if (n < 960)
		*x = (struct agent_exit){.kind = EXIT_STATUS, .status = n < 950 ? 1 : 7};
	else
		*x = (struct agent_exit){.kind = EXIT_SIGNAL, .exit_code = -1, .signal = 11};
}

static int64_t draw_length(struct world *w)
{
	int n = (int)rng_below(&w->rng_hand, 1000);

	if (n < 500 || w->healed)
		return sim_between(&w->rng_hand, 1000, 500000);
	if (n < 900)
		return sim_between(&w->rng_hand, 100000, 20 * SECOND_US);
	return sim_between(
	    &w->rng_hand, 10 * SECOND_US, n < 980 ? 60 * SECOND_US : 400 * SECOND_US);
}

static struct sim_process *process_new(struct world *w, int slot, rid task, int64_t token)
{
	struct sim_worker *k = &w->workers[slot];
	struct sim_process *p = xcalloc(1, sizeof *p);

	p->slot = slot;
	p->instance = k->instance;
	p->task = task;
	p->token = token;
	p->next = k->processes;
	p->prev = &k->processes;
	if (p->next)
		p->next->prev = &p->next;
	k->processes = p;
	k->n_processes++;
	return p;
}

static void sim_process_free(struct world *w, struct sim_process *p)
{
	world_cancel(w, TAKE(p->event));
	*p->prev = p->next;
	if (p->next)
		p->next->prev = p->prev;
	w->workers[p->slot].n_processes--;
	free(p);
}

static void plan(struct world *w, struct sim_process *p, enum sim_event_kind kind, int64_t in_us)
{
	world_cancel(w, TAKE(p->event));
	p->event = world_event(w, w->now_us + in_us, kind, p->slot);
	p->event->p = p;
}

/* The next thing it does by itself. */
static void go_on(struct world *w, struct sim_process *p)
{
	int64_t part;

	if (p->chunks_left > 0) {
		part = p->left_us / (p->chunks_left + 1);
		p->left_us -= part;
		plan(w, p, SE_PROCESS_OUTPUT, part);
	} else {
		plan(w, p, SE_PROCESS_END, p->left_us);
	}
}

static void start(struct world *w, struct sim_process *p)
{
	struct agent_event e = {.kind = AE_STARTED, .task = p->task, .token = p->token, .pid = 1};

	p->state = PROCESS_RUNS;
	p->started_us = w->now_us;
	world_tell(w, "%s: task %u/%lld STARTS", world_node_name(w, p->slot),
	    judge_number(w, p->task), (long long)p->token);
	world_mix(w, p->task ^ (uint64_t)p->token << 40);
	judge_started(w, p);
	sim_hand(w, p->slot, 0, &e);
	SIM_KINDS_DO(process_started, w, p);
	go_on(w, p);
}

static void exited(struct world *w, int slot, rid task, int64_t token, const struct agent_exit *x)
{
	struct agent_event e = {.kind = AE_EXITED, .task = task, .token = token, .exit = *x};

	if (x->kind == EXIT_CODE || x->kind == EXIT_STATUS) {
		e.exit.result = sim_result(token);
		e.exit.usage = (struct usage){.user_us = token, .known = true};
	}
	sim_hand(w, slot, w->o.exact ? 0 : sim_between(&w->rng_hand, 0, 3000), &e);
}

void sim_process_new(struct world *w, int slot, const struct agent_effect *e)
{
	struct sim_worker *k = &w->workers[slot];
	struct agent_exit never = {.kind = EXIT_NEVER, .exit_code = -1};
	struct agent_exit bad = {.kind = EXIT_ERROR, .exit_code = 127};
	struct sim_process *p;

	if (k->no_fork_until_us > w->now_us || (troubled(w) && sim_chance(&w->rng_hand, 20))) {
		never.reason = STR("fork: resource temporarily unavailable");
		exited(w, slot, e->task, e->token, &never);
		return;
	}
	judge_shown(w, e->run);
	p = process_new(w, slot, e->task, e->token);
	draw_exit(w, &p->exit);
	p->left_us = draw_length(w);
	p->chunks_left = sim_chance(&w->rng_hand, 400) ? (int)sim_between(&w->rng_hand, 1, 6) : 0;
	p->ignores_term = troubled(w) && sim_chance(&w->rng_hand, 200);
	SIM_KINDS_DO(process_new, w, p, e->run);
	if (w->hooks.process)
		w->hooks.process(w, p, w->hooks.arg);
	if (troubled(w) && sim_chance(&w->rng_hand, 10)) {
		judge_unexecutable(w, p);
		sim_process_free(w, p);
		exited(w, slot, e->task, e->token, &bad);
	} else if (!w->o.exact && sim_chance(&w->rng_hand, 150)) {
		/* the task waits for its plugin's process */
		plan(w, p, SE_PROCESS_START, sim_between(&w->rng_hand, 1000, 3 * SECOND_US));
	} else {
		start(w, p);
	}
}

static void write_some(struct world *w, struct sim_process *p)
{
	struct agent_event e = {.kind = AE_OUTPUT, .task = p->task, .token = p->token};
	char data[CHUNK_MOST];
	int stream = (int)rng_below(&w->rng_hand, N_STREAMS);
	int64_t n = sim_between(&w->rng_hand, 1, CHUNK_MOST);

	for (int64_t i = 0; i < n; i++)
		data[i] = sim_output_byte(p->task, p->token, stream, p->produced[stream] + i);
	p->produced[stream] += n;
	judge_wrote(w, p);
	p->chunks_left--;
	e.output.stream = stream;
	e.output.data = (struct str){data, (size_t)n};
	if (w->workers[p->slot].agent && w->workers[p->slot].instance == p->instance)
		sim_hand(w, p->slot, 0, &e);
	go_on(w, p);
}

/* The process is over; its worker, if that still is the one, will hear of it. */
static void end(struct world *w, struct sim_process *p)
{
	struct sim_worker *k = &w->workers[p->slot];

	if (p->state == PROCESS_RUNS) {
		p->state = PROCESS_OVER;
		world_tell(w, "%s: task %u/%lld is over", world_node_name(w, p->slot),
		    judge_number(w, p->task), (long long)p->token);
		judge_ended(w, p);
	}
	p->state = PROCESS_OVER;
	if (p->unread && k->agent && k->instance == p->instance) {
		p->is_over_unread = true; /* the process's pipes are not at their end */
		return;
	}
	if (k->agent && k->instance == p->instance)
		exited(w, p->slot, p->task, p->token, &p->exit);
	sim_process_free(w, p);
}

void sim_process_read(struct world *w, int slot, rid task, int64_t token, bool on)
{
	struct sim_process *p = find(&w->workers[slot], task, token);

	if (!p)
		return;
	p->unread = !on;
	if (on && p->is_over_unread)
		end(w, p);
	else if (on && p->state == PROCESS_RUNS && !p->event)
		go_on(w, p);
}

void sim_process_given(struct world *w, int slot, const struct agent_effect *e)
{
	struct sim_process *p = find(&w->workers[slot], e->task, e->token);

	if (p && p->state == PROCESS_RUNS)
		sim_process_input(w, p, &e->input);
}

static void end_by(struct world *w, struct sim_process *p, int signal, int64_t in_us)
{
	/* what ends by itself before the signal works has its own end */
	if (p->event && p->event->kind == SE_PROCESS_END && p->event->node.at <= w->now_us + in_us)
		return;
	p->exit = (struct agent_exit){.kind = EXIT_SIGNAL, .exit_code = -1, .signal = signal};
	plan(w, p, SE_PROCESS_END, in_us);
}

void sim_process_stop(struct world *w, int slot, rid task, int64_t token, bool kill)
{
	struct sim_process *p = find(&w->workers[slot], task, token);

	if (!p || p->state == PROCESS_OVER)
		return; /* the process's end is on its way to the brain */
	if (p->state == PROCESS_WAITS) {
		p->exit = (struct agent_exit){.kind = EXIT_NEVER, .exit_code = -1};
		end(w, p);
	} else if (kill) {
		end_by(w, p, 9, sim_between(&w->rng_hand, 0, 5000));
	} else if (!p->ignores_term) {
		end_by(w, p, 15, sim_between(&w->rng_hand, 0, 300000));
	}
}

void sim_processes_end(struct world *w, int slot, int64_t within_us)
{
	struct sim_process *p, *next;

	for (p = w->workers[slot].processes; p; p = next) {
		next = p->next;
		if (p->state == PROCESS_OVER) {
			end(w, p); /* only the word of its end was missing */
			continue;
		}
		if (within_us && p->state == PROCESS_RUNS) {
			end_by(w, p, 9, sim_between(&w->rng_hand, 0, within_us));
			continue;
		}
		p->exit = (struct agent_exit){.kind = EXIT_NEVER, .exit_code = -1};
		if (p->state == PROCESS_RUNS)
			p->exit =
			    (struct agent_exit){.kind = EXIT_SIGNAL, .exit_code = -1, .signal = 9};
		end(w, p);
	}
}

void sim_process_event(struct world *w, struct sim_event *e)
{
	struct sim_process *p = e->p;

	p->event = NULL;
	if (e->kind == SE_PROCESS_START)
		start(w, p);
	else if (e->kind == SE_PROCESS_END)
		end(w, p);
	else if (!p->unread)
		write_some(w, p);
	/* else the pipe is full: it stands until somebody reads */
}
