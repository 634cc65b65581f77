/* SPDX-License-Identifier: Apache-2.0 */
/* What stories of groups share: a group given as text, and jobs by their letters. */
#ifndef TEST_GROUP_STORY_H
#define TEST_GROUP_STORY_H

#include <stdlib.h>
#include <string.h>

#include "../world/world.h"
#include "core/group/view.h"

#define LETTERS 26

struct group_story {
	struct world *w;
	rid queue, group;
	int32_t policy;
	int max_attempts;
	const char *need; /* of each job; NULL: nothing */
	rid job[LETTERS]; /* the task of each letter */
	int64_t number;   /* of the last link */
};

/*
 * "a b:a c:a! d:b,c?" are four jobs: b needs a, c goes by a's failure, d needs b, and c in any
 * case. Returns the number of edges.
 */
static inline size_t story_parse(const char *text, struct group_edge *edges, size_t *ret_jobs)
{
	size_t n_edges = 0, n = 0;
	bool needs = false;

	for (const char *p = text; *p; p++) {
		if (*p == ' ')
			needs = false;
		else if (*p == ':')
			needs = true;
		else if (*p == '!')
			edges[n_edges - 1].condition = EDGE_FAILURE;
		else if (*p == '?')
			edges[n_edges - 1].condition = EDGE_END;
		else if (*p != ',' && needs)
			edges[n_edges++] =
			    (struct group_edge){(uint32_t)n - 1, (uint32_t)(*p - 'a')};
		else if (*p != ',')
			assert_int_equal(*p - 'a', n++);
	}
	*ret_jobs = n;
	return n_edges;
}

/* Where each job is, by its body. */
static inline void story_find_jobs(struct group_story *s)
{
	for (size_t i = 0; i < s->w->n_tasks; i++)
		if (s->w->tasks[i].spec.owner.id == s->group)
			s->job[s->w->tasks[i].spec.body.p[1] - 'a'] = s->w->tasks[i].id;
}

static inline const struct reply *story_submit(struct group_story *s, const char *text)
{
	struct group_edge edges[256];
	struct submit_task tasks[LETTERS];
	char bodies[LETTERS][4];
	struct str names[LETTERS];
	struct submit_group g = {.policy = s->policy, .edges = edges, .names = names};
	struct event ev = {.kind = EV_SUBMIT, .ticket = ++s->w->last_ticket, .actor = STR("me")};

	g.n_edges = story_parse(text, edges, &ev.submit.n);
	for (size_t i = 0; i < ev.submit.n; i++) {
		memcpy(bodies[i], "{a}", 4);
		bodies[i][1] = (char)('a' + i);
		names[i] = (struct str){&bodies[i][1], 1};
		tasks[i] = (struct submit_task){.spec = {.queue = s->queue,
		                                    .max_attempts = s->max_attempts,
		                                    .backoff_ms = -1,
		                                    .backoff_max_ms = -1,
		                                    .need = s->need ? str_of(s->need) : STR_NULL,
		                                    .body = str_of(bodies[i])}};
	}
	ev.submit.tasks = tasks;
	ev.submit.group = &g;
	world_step(s->w, &ev);
	if (s->w->hold)
		return NULL;
	s->group = world_reply(s->w)->id;
	story_find_jobs(s);
	return world_reply(s->w);
}

static inline struct group_story story_new(const struct core_options *o)
{
	struct group_story s = {.w = world_new(o)};

	s.queue = world_queue(s.w, "q", -1, ORDER_FIFO);
	return s;
}

static inline void story_worker(struct group_story *s, int maxthreads)
{
	s->number++;
	world_hello(s->w, (uint64_t)s->number, "w1", (uint64_t)s->number, maxthreads, NULL, 0);
}

static inline struct task_row *story_job(struct group_story *s, char letter)
{
	return world_task(s->w, s->job[letter - 'a']);
}

static inline enum job_state story_state(struct group_story *s, char letter)
{
	return job_state(
	    (enum group_state)world_group(s->w, s->group)->state, &story_job(s, letter)->state);
}

static inline enum group_state story_group(struct group_story *s)
{
	return (enum group_state)world_group(s->w, s->group)->state;
}

static inline void story_end(struct group_story *s, char letter, int status)
{
	struct task_row *t = story_job(s, letter);

	assert_true(t->state.status == TASK_CLAIMED || t->state.status == TASK_RUNNING);
	world_ended(s->w, (uint64_t)s->number, t->id, t->state.token, status);
}

#define assert_jobs(s, text) assert_jobs_at(s, text, __LINE__)
/* "a=built b=eligible": the first letters of each state are enough. */
static inline void assert_jobs_at(struct group_story *s, const char *text, int line)
{
	for (const char *p = text; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
		const char *is = job_state_names[story_state(s, *p)];
		size_t n = strcspn(p + 2, " ");

		if (strncmp(is, p + 2, n))
			fail_msg("line %d: job %c is %s, not %.*s", line, *p, is, (int)n, p + 2);
	}
}

static inline const struct reply *story_do(struct group_story *s, enum event_kind kind)
{
	struct event ev = {.kind = kind, .ticket = ++s->w->last_ticket, .actor = STR("me")};

	ev.object.kind = KIND_GROUP;
	ev.object.id = s->group;
	ev.object.verb = kind == EV_DO ? GROUP_CANCEL : VERB_NONE;
	world_step(s->w, &ev);
	return world_reply(s->w);
}

#endif
