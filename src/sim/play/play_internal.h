/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside `reeve sim play`. A scenario is read once and checked whole (every action is parsed with
 * `dry` set), then its events are carried out one after the other against a world of virtual time.
 * All that can be asked is one JSON value, the view; an expectation is a pattern for it.
 */
#ifndef SIM_PLAY_INTERNAL_H
#define SIM_PLAY_INTERNAL_H

#include <jansson.h>
#include <stdio.h>

#include "sim/world/net.h"
#include "sim/world/server.h"
#include "sim/world/worker.h"
#include "sim/world/world.h"

#define PLAY_NAME_MAX 16 /* as in struct sim_worker */
#define PLAY_ACTORS_MAX 128
#define PLAY_TASKS_MAX 256
#define PLAY_QUEUES_MAX 16
#define PLAY_OUTCOMES_MAX 16
#define PLAY_EVENTS_MAX 5000
#define STORY_KEPT 40
#define PLAY_MS_MOST (INT64_C(1) << 42) /* a hundred years: more would overflow in microseconds */

enum said {
	SAID_HELLO,
	SAID_BEAT,
	SAID_CHECKED,
	SAID_NOTIFIED,
	SAID_STARTED,
	SAID_ENDED,
	SAID_OUTPUT,
	SAID_INPUT_ACK,
	N_SAID
};
#define N_TOLD (MSG_INPUT + 1)
extern const char *const said_names[N_SAID], *const told_names[N_TOLD];

/* What was said by, or to, one worker: counted since the last query and ever, and the last one. */
struct calls {
	unsigned now[N_TOLD], ever[N_TOLD];
	json_t *last[N_TOLD];
};

struct habits { /* what a puppet does by itself */
	bool beats, repeats_set;
	enum { CHECK_IGNORE, CHECK_OK, CHECK_FAIL } checks;
	enum { RUN_IGNORE, RUN_START, RUN_REFUSE } runs;
	bool notifies;
};

struct puppet {
	uint64_t instance, link, beats, notify_seq;
	int64_t started_ms;
	char lock[24];
	json_t *facts; /* borrowed */
	int32_t maxthreads;
	struct set_id told; /* the last set that it was told */
	enum worker_state state;
	struct timeouts timeouts;
	struct habits habits;
	bool welcome;
	struct sim_event *beat_event; /* the habit's next one */
	struct {
		int64_t token; /* of the last run; 0: none */
		bool held;
	} runs[PLAY_TASKS_MAX];
	struct packet *sent[N_SAID]; /* the last of each kind, to be said again */
};

struct actor {
	char name[PLAY_NAME_MAX], shard[PLAY_NAME_MAX];
	int slot; /* SIM_RAW: a puppet */
	struct puppet *puppet;
	struct calls said, told;
	unsigned starts;
	/* a puppet server's side of an agent's link */
	uint64_t link, last_beat, checks, runs;
	int index;
};

struct outcome_spec {
	int64_t run_us; /* INT64_MAX: for ever */
	struct agent_exit exit;
	bool ignores_term;
};

struct play_task {
	char name[32];
	char body[48]; /* by which the first run is known, before the submit is answered */
	int queue;
	rid id;
	struct task_spec spec;
	struct outcome_spec outcomes[PLAY_OUTCOMES_MAX]; /* the last one stays */
	size_t n_outcomes, n_starts;
	json_t *starts; /* every process start */
	unsigned copies, most_copies;
};

struct play_queue {
	char name[32];
	json_t *json; /* borrowed */
	rid id;
};

struct play_process { /* as seen from outside */
	int slot, task;
	uint64_t instance;
	int64_t token, started_us, ended_us; /* -1: not yet */
	bool seen;
};

struct play_rule { /* what becomes of messages */
	int actor; /* -1: any worker */
	int direction;
	int kind; /* enum said or message_kind; -1: any */
	int task; /* -1: any */
	int skip, left;
	enum sim_action action;
	int64_t delay_us;
	struct play_rule *next;
};

struct ask;
struct later;

struct play_set { /* a set id, and who is in it */
	struct set_id id;
	json_t *names;
};

struct play {
	const char *file;
	json_t *doc;
	struct world *w;
	struct sim_options o;
	bool is_json, trace, dry, quiet;
	const char *shiviz; /* where a trace goes; NULL: none is wanted */
	bool server_is_puppet;
	int64_t event_us; /* of the present event */
	struct problem problem;
	char path[200]; /* of the value that is being read */
	bool failed;
	int expect_violation;
	struct actor actors[PLAY_ACTORS_MAX];
	size_t n_actors;
	struct play_task tasks[PLAY_TASKS_MAX];
	size_t n_tasks;
	struct play_queue queues[PLAY_QUEUES_MAX];
	size_t n_queues;
	struct play_process *processes;
	size_t n_processes, cap_processes;
	struct play_rule *rules;
	struct play_set *sets;
	size_t n_sets, cap_sets;
	json_t *replies;              /* of commands: the last one of each kind */
	const struct actor *speaking; /* the puppet that the present packet is from or for */
	char *story[STORY_KEPT];
	size_t n_story;
	json_t *lines; /* of the story since the last query */
	unsigned n_expects;
	struct ask *asks;      /* commands without an answer yet */
	struct later **laters; /* planned actions */
	size_t n_laters, cap_laters;
	/* a puppet server */
	struct {
		uint64_t id;
		struct set_id set;
		enum worker_state state;
		bool welcomes, acks, checks;
	} boss;
};

/* A JSON object that is being read, and where it is. */
struct at {
	struct play *p;
	json_t *j;
	char path[160];
};

/* play_json.c: all of these return false, or the fallback, and set the problem, when it is wrong */
int play_wrong(struct play *p, const char *path, const char *key, const char *what,
    const char *hint, ...) __attribute__((format(printf, 5, 6)));
bool at_init(struct at *a, struct play *p, json_t *j, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Every key must be among these words. */
bool at_keys(struct at *a, const char *words);
/* The server's timeouts under that key; what is not given stays. False: there is none. */
bool timeouts_read(struct at *of, const char *key, struct timeouts *t);
/* Words that nothing can ever be are mistakes in a pattern, not differences. */
bool values_check(struct play *p, json_t *want, const char *path);
bool at_has(const struct at *a, const char *key);
const char *at_str(
    struct at *a, const char *key, const char *fallback); /* NULL: it must be there */
int64_t at_int(struct at *a, const char *key, int64_t min, int64_t max, int64_t fallback);
bool at_bool(struct at *a, const char *key, bool fallback);
int64_t at_ms(struct at *a, const char *key, int64_t fallback);   /* INT64_MIN: it must be there */
int64_t at_wait(struct at *a, const char *key, int64_t fallback); /* a time, not less than 0 */
int at_choice(struct at *a, const char *key, const char *const *names, size_t n, int fallback);
/* "w1" -> its actor; a missing key is wrong */
struct actor *at_actor(struct at *a, const char *key);
int at_task(struct at *a, const char *key); /* -1: wrong, or not given and not needed */
int at_queue(struct at *a, const char *key);
bool json_ms(json_t *j, int64_t *ret_ms); /* any length */
int find_actor(const struct play *p, const char *name);
int find_task(const struct play *p, const char *name);
static inline bool is_wrong(const struct play *p)
{
	return p->problem.code != 0;
}

/* A puppet's, in its own words or a hello's; checked, not kept. */
bool facts_check(struct at *a);

/* play_load.c */
bool play_read(struct play *p);
bool play_setup(struct play *p);

/* play_task.c */
bool tasks_read(struct play *p);

/* play_world.c */
void play_world_new(struct play *p);
void play_world_free(struct play *p);
/* Runs the world up to that time; false: an invariant does not hold any more. */
bool play_run(struct play *p, int64_t until_us);
bool play_step(struct play *p);
struct actor *actor_of_link(struct play *p, uint64_t link);
uint64_t actor_instance(const struct play *p, const struct actor *x);
const char *play_task_name(const struct play *p, rid id);
/* What was said so far does not count as said since the last query. */
void play_forget_calls(struct play *p);

/* play_calls.c */
void calls_seen(struct play *p, const struct sim_link *l, const struct packet *m);
void calls_release(struct calls *c);
int packet_call(const struct packet *m); /* enum said or message_kind, by direction */
json_t *set_json(const struct play *p, const struct set_id *id);

/* play_event.c */
bool events_check(struct play *p);
bool events_run(struct play *p);
void laters_release(struct play *p);

/* play_do.c, play_net.c, play_ask.c, play_puppet.c, play_boss.c */
struct action {
	const char *name, *keys;
	void (*run)(struct at *a);
};
extern const struct action node_actions[], net_actions[], ask_actions[], puppet_actions[],
    boss_actions[];
void puppet_hears(struct world *w, uint64_t link, const struct message *m, void *arg);
void puppet_link_down(struct world *w, uint64_t link, void *arg);
void puppet_release(struct puppet *k);
bool habits_read(struct at *a, struct habits *ret_habits);
/* {"server": …, "version": …, "of": […]}, "none", "told" */
bool set_read(struct at *a, const char *key, const struct set_id *told, struct set_id *ret_set);
uint64_t label_number(const char *label); /* a random-looking number for a label; not 0 */
void boss_hears(struct world *w, const struct event *ev, void *arg);
void rules_release(struct play *p);
bool rule_for_packet(
    struct play *p, const struct sim_link *l, const struct packet *m, struct net_rule *ret_rule);
/* What a queue of the scenario shall be. */
void queue_read(struct at *a, struct queue_row *ret_row, uint64_t *ret_fields);
void ask_queues(struct play *p);
void asks_release(struct play *p);

/* play_view.c */
json_t *view_new(struct play *p);
json_t *view_at(json_t *view, const char *path); /* "workers.w1.state"; borrowed; NULL: none */

/* play_expect.c */
bool expect_check(struct play *p, json_t *pattern, const char *path);
bool print_check(struct play *p, json_t *paths, const char *path);
bool expect_holds(struct play *p, json_t *pattern); /* silently */
bool expect(struct play *p, json_t *pattern, const char *text);
void print(struct play *p, json_t *paths, const char *text);
void say_story(struct play *p);
const char *play_time(int64_t us, char out[32]);

#endif
