/* SPDX-License-Identifier: Apache-2.0 */
/* The jobs of a group: read from the server's compact form, and moved by its stream of changes. */
#include "cli/group/live.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/output/output.h"
#include "graph/jobs/jobs.h"
#include "model/objects/group_graph.h"

#define TIME_MAX_MS 253402300799999 /* the end of the year 9999 */
#define EDGE_NUMBERS 4              /* job, need, condition, reason */

#define GONE_LETTER '?'

static int not_a_graph(struct problem *p, const char *what)
{
	return problem_set(p, ERR_PROTOCOL, "the server's graph is none: %s", what);
}

/* -1: there is no such letter. */
static int state_of_letter(char letter)
{
	const char *at = letter ? strchr(job_letters, letter) : NULL;

	return at ? (int)(at - job_letters) : letter == GONE_LETTER ? JOB_GONE : -1;
}

const char *job_state_word(int state)
{
	return state == JOB_GONE ? "gone" : job_state_names[state];
}

enum group_state group_state_of(const char *name)
{
	int i = 0;

	while (i < N_GROUP_STATES && strcmp(group_state_names[i], name))
		i++;
	return (enum group_state)i;
}

bool job_is_bad(int s)
{
	return s == JOB_FAILED || s == JOB_LOST || s == JOB_CANCEL_COMPLETE;
}

bool job_is_ended(int s)
{
	return s == JOB_BUILT || s == JOB_DEPENDENCY_FAILED || s == JOB_GONE || job_is_bad(s);
}

bool job_is_on(int s)
{
	return s == JOB_DISPATCHED || s == JOB_CANCEL_PENDING;
}

void live_release(struct live *l)
{
	json_decref(l->group);
	json_decref(l->names);
	free(l->states);
	free(l->started);
	free(l->ended);
	free(l->took);
	dag_release(&l->dag);
	free(l->reasons);
	free(l->parent);
	*l = (struct live){0};
}

const char *live_name(const struct live *l, uint32_t job)
{
	const char *name = json_string_value(json_array_get(l->names, job));

	return name ? name : "";
}

bool live_task(const struct live *l, uint32_t job, char ret_id[ID_TEXT])
{
	if (l->first_task)
		id_format(&l->ids, l->first_task + job, ret_id);
	return l->first_task != 0;
}

uint32_t live_ended(const struct live *l)
{
	uint32_t n = 0;

	for (int s = 0; s <= JOB_GONE; s++)
		n += job_is_ended(s) ? l->counts[s] : 0;
	return n;
}

uint32_t live_waiting(const struct live *l)
{
	return l->counts[JOB_PENDING] + l->counts[JOB_SCHEDULABLE];
}

static int read_states(struct live *l, const char *letters, struct problem *p)
{
	if (strlen(letters) != l->n)
		return not_a_graph(p, "it has not one state for each job");
	l->states = xcalloc((size_t)l->n + 1, 1);
	for (uint32_t j = 0; j < l->n; j++) {
		int s = state_of_letter(letters[j]);

		if (s < 0)
			return not_a_graph(p, "a state is unknown");
		l->states[j] = (uint8_t)s;
		l->counts[s]++;
	}
	return 0;
}

/* A difference of two of them fits, whatever a server says. */
static int64_t sane_ms(int64_t ms)
{
	return ms > 0 && ms <= TIME_MAX_MS ? ms : 0;
}

static int64_t *read_times(const struct live *l, const json_t *list)
{
	int64_t *times = xcalloc((size_t)l->n + 1, sizeof *times);

	for (uint32_t j = 0; j < l->n; j++)
		times[j] = sane_ms(json_integer_value(json_array_get(list, j)));
	return times;
}

struct edges {
	const json_t *list;
	size_t n;
};

/* A job has a higher number than all that it needs, so there is no loop. */
static bool get_edge(const struct live *l, const struct edges *from, size_t i, int64_t ret[])
{
	const json_t *edge = json_array_get(from->list, i);

	for (size_t k = 0; k < EDGE_NUMBERS; k++)
		ret[k] = json_integer_value(json_array_get(edge, k));
	return json_array_size(edge) >= 2 && ret[1] >= 0 && ret[1] < ret[0] && ret[0] < l->n &&
	       ret[2] >= 0 && ret[2] < N_EDGE_CONDITIONS;
}

static int count_needs(struct live *l, const struct edges *from, struct problem *p)
{
	int64_t edge[EDGE_NUMBERS];

	l->dag.n = l->n;
	l->dag.first = xcalloc((size_t)l->n + 2, sizeof *l->dag.first);
	for (size_t i = 0; i < from->n; i++) {
		if (!get_edge(l, from, i, edge))
			return not_a_graph(p, "a need is not between two of its jobs");
		l->dag.first[edge[0] + 1]++;
	}
	for (uint32_t j = 0; j < l->n; j++)
		l->dag.first[j + 1] += l->dag.first[j];
	return 0;
}

static int read_needs(struct live *l, const json_t *list, struct problem *p)
{
	static const uint8_t after[] = {
	    [EDGE_SUCCESS] = AFTER_SUCCESS, [EDGE_END] = AFTER_END, [EDGE_FAILURE] = AFTER_FAILURE};
	struct edges from = {list, json_array_size(list)};
	uint32_t *next;
	int rc = count_needs(l, &from, p);

	if (rc < 0)
		return rc;
	next = xcalloc((size_t)l->n + 1, sizeof *next);
	memcpy(next, l->dag.first, (size_t)l->n * sizeof *next);
	l->dag.needs = xcalloc(from.n + 1, sizeof *l->dag.needs);
	l->dag.why = xcalloc(from.n + 1, 1);
	l->reasons = xcalloc(from.n + 1, 1);
	for (size_t i = 0; i < from.n; i++) {
		int64_t edge[EDGE_NUMBERS];
		uint32_t at;

		get_edge(l, &from, i, edge);
		at = next[edge[0]]++;
		l->dag.needs[at] = (uint32_t)edge[1];
		l->dag.why[at] = after[edge[2]];
		l->reasons[at] = (uint8_t)edge[3];
		l->is_planned |= edge[3] != 0;
	}
	free(next);
	return 0;
}

/* Of several needs the one with the longest chain before it; of these the most important. */
static void find_parents(struct live *l)
{
	uint32_t *level = xcalloc((size_t)l->n + 1, sizeof *level);

	l->parent = xcalloc((size_t)l->n + 1, sizeof *l->parent);
	for (uint32_t j = 0; j < l->n; j++) {
		l->parent[j] = NO_JOB;
		for (uint32_t e = l->dag.first[j]; e < l->dag.first[j + 1]; e++) {
			uint32_t need = l->dag.needs[e];

			if (level[need] < level[j] ||
			    (level[need] + 1 == level[j] && l->parent[j] < need))
				continue;
			level[j] = level[need] + 1;
			l->parent[j] = need;
		}
	}
	free(level);
}

/* An id tells which installation it is of: its ten digits after the time. */
static void read_first_task(struct live *l, const char *id)
{
	if (strlen(id) != ID_TEXT - 1 || !id_space_parse((struct str){id + 8, 10}, &l->ids) ||
	    !id_parse(&l->ids, str_of(id), &l->first_task))
		l->first_task = 0;
}

static int load(const json_t *reply, struct live *l, struct problem *p)
{
	size_t n = json_array_size(json_object_get(reply, "names"));
	int rc;

	if (!json_is_object(json_object_get(reply, "group")))
		return not_a_graph(p, "it does not say of which group");
	if (n > GROUP_JOBS_MAX)
		return not_a_graph(p, "it has too many jobs");
	l->n = (uint32_t)n;
	l->group = json_incref(json_object_get(reply, "group"));
	l->names = json_incref(json_object_get(reply, "names"));
	if ((rc = read_states(l, js(reply, "states"), p)) < 0)
		return rc;
	read_first_task(l, js(reply, "first_task"));
	l->started = read_times(l, json_object_get(reply, "started"));
	l->ended = read_times(l, json_object_get(reply, "ended"));
	l->took = read_times(l, json_object_get(reply, "took"));
	if ((rc = read_needs(l, json_object_get(reply, "needs"), p)) < 0)
		return rc;
	find_parents(l);
	return 0;
}

int live_load(const json_t *reply, struct live *ret_live, struct problem *p)
{
	struct live l = {0};
	int rc = load(reply, &l, p);

	if (rc < 0)
		live_release(&l);
	else
		*ret_live = l;
	return rc;
}

bool live_move(struct live *l, uint32_t job, enum job_state state, int64_t ms)
{
	int before = l->states[job];

	if (before == (int)state || job_is_ended(before))
		return false;
	l->counts[before]--;
	l->counts[state]++;
	l->states[job] = (uint8_t)state;
	if (state == JOB_DISPATCHED)
		l->started[job] = ms;
	else if (job_is_ended(state))
		l->ended[job] = ms;
	else if (!job_is_on(state))
		l->started[job] = 0; /* the worker was lost, or another attempt comes */
	return true;
}

int live_apply(struct live *l, const json_t *changes, live_fn *fn, void *arg, struct problem *p)
{
	json_t *change;
	size_t i;

	json_array_foreach(changes, i, change)
	{
		int64_t job = json_integer_value(json_array_get(change, 0));
		const char *letter = json_string_value(json_array_get(change, 1));
		int s = state_of_letter(letter ? letter[0] : 0);

		if (job < 0 || job >= l->n || s < 0 || s == JOB_GONE)
			return problem_set(p, ERR_PROTOCOL,
			    "the server's stream speaks of a job or a state that is none");
		if (live_move(l, (uint32_t)job, (enum job_state)s,
		        sane_ms(json_integer_value(json_array_get(change, 2)))) &&
		    fn)
			fn(l, (uint32_t)job, arg);
	}
	return 0;
}

/* When it begins to dispatch, nobody tells of each of its jobs that it waits for its needs now. */
void live_set_group(struct live *l, json_t *group)
{
	if (group_state_of(js(group, "state")) >= GROUP_DISPATCHING && l->counts[JOB_PENDING])
		for (uint32_t j = 0; j < l->n; j++)
			if (l->states[j] == JOB_PENDING)
				live_move(l, j, JOB_SCHEDULABLE, 0);
	json_incref(group);
	json_decref(l->group);
	l->group = group;
}
