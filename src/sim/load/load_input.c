/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients that stream a task's standard input: piece by piece, through lost answers and dead
 * servers; some die on the way. What each process reads is compared byte by byte. Nothing here
 * draws from the load's own numbers, so that the other clients do what they did without it.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "sim/judge/judge.h"
#include "sim/load/load_internal.h"
#include "sim/world/worker.h"

#define STREAM_EVERY 5 /* requests: a submit of one task streams its input */
#define DIES_EVERY 4   /* of these senders */
#define PIECE_MOST 40
#define SENDER_TRIES_MOST 200
#define READS_MOST_US (2 * SECOND_US)

struct sim_sender {
	struct sim_sender *next;
	struct world *w;
	rid task;
	int64_t total, acked, n_sent;
	int64_t dies_at; /* so much it sends; more than total: all of it */
	bool is_sure, is_asking;
	int tries;
	struct rng rng;
};

bool load_is_streamed(const struct request *r)
{
	return r->n == 1 && !r->key && r->number % STREAM_EVERY == 0;
}

static char byte_at(rid task, int64_t offset)
{
	return (
	    char)((task * 0x9e3779b97f4a7c15ull + (uint64_t)offset * 0xbf58476d1ce4e5b9ull) >> 40);
}

static void speak(struct world *w, void *arg);

static void again(struct sim_sender *s, int64_t most_us)
{
	if (s->tries++ < SENDER_TRIES_MOST)
		world_at(s->w, s->w->now_us + sim_between(&s->rng, 1000, most_us), speak, s);
}

static void heard(const struct reply *r, void *arg)
{
	struct sim_sender *s = arg;
	bool lost = !r || (!s->w->healed && sim_chance(&s->rng, 50));

	if (r && r->code == 0 && r->input.size < s->acked)
		world_fail(s->w, 43,
		    "task %u: %lld bytes of its input were acknowledged, %lld are there",
		    judge_number(s->w, s->task), (long long)s->acked, (long long)r->input.size);
	s->is_sure = !lost && r->code == 0;
	if (lost || r->code == ERR_BUSY) {
		again(s, 3 * SECOND_US);
		return;
	}
	if (r->code != 0 || r->input.is_ended)
		return; /* all of it is there, or the task has ended */
	if (r->input.size > s->acked + s->n_sent)
		world_fail(s->w, 43, "task %u has more input than was ever sent",
		    judge_number(s->w, s->task));
	s->acked = r->input.size;
	again(s, s->w->healed ? SECOND_US / 10 : 8 * SECOND_US);
}

static void speak(struct world *w, void *arg)
{
	struct sim_sender *s = arg;
	struct event ev = {.kind = EV_INPUT, .actor = STR("sim")};
	char piece[PIECE_MOST];
	int64_t n = sim_between(&s->rng, 0, PIECE_MOST);

	if (s->acked >= s->dies_at)
		return;
	if (n > s->total - s->acked)
		n = s->total - s->acked;
	ev.input.task = s->task;
	ev.input.offset = -1;
	if (s->is_sure) {
		for (int64_t i = 0; i < n; i++)
			piece[i] = byte_at(s->task, s->acked + i);
		ev.input.offset = s->acked;
		ev.input.data = (struct str){piece, (size_t)n};
		ev.input.end = s->acked + n == s->total;
		s->n_sent = n;
	}
	if (!sim_server_command(w, &ev, heard, s))
		heard(NULL, s);
}

static struct sim_sender *find(const struct load *l, rid task)
{
	struct sim_sender *s = l->senders;

	while (s && s->task != task)
		s = s->next;
	return s;
}

void load_input_begin(struct world *w, rid task)
{
	struct sim_sender *s;

	if (find(w->load, task))
		return; /* the same answer, once more */
	s = xcalloc(1, sizeof *s);
	s->w = w;
	s->task = task;
	s->rng.state = task * 0x94d049bb133111ebull;
	s->total = sim_between(&s->rng, 0, 300);
	s->dies_at =
	    rng_below(&s->rng, DIES_EVERY) ? INT64_MAX : sim_between(&s->rng, 0, s->total + 1);
	s->is_sure = true;
	s->next = w->load->senders;
	w->load->senders = s;
	again(s, SECOND_US);
}

void load_inputs_free(struct load *l)
{
	struct sim_sender *s;

	while ((s = l->senders)) {
		l->senders = s->next;
		free(s);
	}
}

static void judge_read(struct world *w, const struct sim_process *p, const struct link_input *in)
{
	const struct sim_sender *s = find(w->load, p->task);

	if (in->offset != p->read)
		world_fail(w, 43, "task %u/%lld reads its input at %lld, and had %lld",
		    judge_number(w, p->task), (long long)p->token, (long long)in->offset,
		    (long long)p->read);
	for (size_t i = 0; i < in->data.n; i++)
		if (in->data.p[i] != byte_at(p->task, in->offset + (int64_t)i))
			world_fail(w, 43, "task %u/%lld reads something else at %lld",
			    judge_number(w, p->task), (long long)p->token,
			    (long long)in->offset + (long long)i);
	if (in->end && s && in->offset + (int64_t)in->data.n != s->total)
		world_fail(w, 43, "task %u/%lld takes a part of its input for all of it",
		    judge_number(w, p->task), (long long)p->token);
}

void sim_process_input(struct world *w, struct sim_process *p, const struct link_input *in)
{
	struct agent_event e = {.kind = AE_INPUT_TAKEN, .task = p->task, .token = p->token};

	judge_read(w, p, in);
	p->read = in->offset + (int64_t)in->data.n;
	e.input_is_closed = sim_chance(&w->rng_hand, 30);
	sim_hand(w, p->slot, sim_between(&w->rng_hand, 0, READS_MOST_US), &e);
}
