/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects: what has a name, a version and a row, and is made, changed and removed by commands. What
 * all kinds have is here, once: their index by id and by name, and the way from a command to its
 * kind. What a kind does with it is in its row of the table of kinds (kinds.c), and so is what it
 * has to say of the tasks that it owns (owner.c).
 */
#ifndef CORE_OBJECT_H
#define CORE_OBJECT_H

#include <bsd/sys/tree.h>

#include "core/say.h"
#include "model/objects/kind.h"
#include "model/rows/query.h"
#include "model/rows/row.h"

struct core;
struct effects;
struct event;
struct reply;
struct link_fares;
struct link_run;
struct task;
struct why_answer;
struct zone;

/* The first member of every object. */
struct object {
	enum kind kind;
	rid id;
	struct str name; /* the kind owns it */
	RB_ENTRY(object) by_id, by_name;
};
RB_HEAD(objects_by_id, object);
RB_HEAD(objects_by_name, object);

#define OBJECT_STATES_MAX 9

struct objects { /* of one kind */
	struct objects_by_id by_id;
	struct objects_by_name by_name;
	size_t n;
	size_t n_in[OBJECT_STATES_MAX]; /* in each of the kind's states, if it has some */
};

/* What may be written down of every object. */
enum object_event {
	OBJECT_CREATED,
	OBJECT_CHANGED,
	OBJECT_PAUSED,
	OBJECT_RESUMED,
	OBJECT_DELETED,
	N_OBJECT_EVENTS
};
#define OBJECT_EVENTS(name)                                                                        \
	{                                                                                          \
		name ".created", name ".changed", name ".paused", name ".resumed", name ".deleted" \
	}

typedef int object_fn(
    struct core *c, struct object *o, const struct event *ev, struct reply *r, struct effects *out);

/* Commands of a kind that go by what is recorded of their object. */
struct object_past {
	bool (*is_wanted)(const struct event *ev);
	/* Just before it is read: the command may be narrowed to what can be known. */
	struct part_query (*ask)(struct core *c, struct event *ev);
};

/* What a kind has to say of a task that one of its objects owns. Each may be NULL. */
struct owner_kind {
	/* The task has begun, begun anew, or has ended. */
	void (*live)(struct core *c, struct object *o, rid task, rid queue);
	void (*ended)(struct core *c, struct object *o, rid task);
	/* The task was dispatched, and waits again. */
	void (*waits)(struct core *c, struct object *o, rid task);
	/* What its process's environment is, given its queue's. In the arena. */
	struct str (*env)(const struct core *c, const struct object *o, const struct task_row *t,
	    struct str env, struct arena *a);
	/* What the groups that it triggers are made of, as it says now. In the arena. */
	struct str (*triggers)(const struct object *o, struct arena *a);
	/* The task was just given to a worker. True: the kind sends the order, some time later. */
	bool (*delays)(struct core *c, struct object *o, const struct task *t);
	/* What else is in its order: whose start it is. The strings are the batch's, or the kind's.
	 */
	void (*order)(const struct core *c, const struct object *o, const struct task *t,
	    struct link_run *run, struct arena *a);
	/* The task's worker says how it fares. */
	void (*fares)(
	    struct core *c, struct object *o, const struct task *t, const struct link_fares *fares);
	/* The task's worker is lost, and may be ending it for so long; `ended` is told next. */
	void (*lost)(struct core *c, struct object *o, const struct task *t, int64_t hold_ms);
	/* The task was certainly never started; refused: its worker could not. It never waits, and
	 * ends. NULL: it goes back to its queue. */
	void (*given_back)(struct core *c, struct object *o, const struct task *t,
	    struct str reason, bool refused);
	/* That part's task is shown what others left: some workers are too old for that. */
	bool (*is_shown)(const struct core *c, const struct object *o, int64_t part);
	/* Why an operator's EV_RETRY, EV_TASK_SET, or EV_CANCEL that fails it, is refused; NULL: it
	 * is not. */
	const char *(*refuses)(const struct core *c, const struct object *o, const struct task *t,
	    const struct event *ev);
	/* An operator fails it: that is to be written down. NULL: it can be cancelled only. */
	void (*failed)(struct core *c, const struct object *o, const struct task *t,
	    struct str reason, struct str actor, struct effects *out);
	/* The status that it gets when an operator releases it. */
	int (*released)(const struct core *c, const struct object *o, const struct task *t);
	/* Why it waits. True: nothing else is to be said of that. */
	bool (*why)(struct why_answer *an, const struct core *c, const struct object *o,
	    const struct task_row *t, int32_t status);
	bool keeps_name; /* the task's name stays in memory */
};

struct object_kind {
	const struct row_table *table;
	const char *events[N_OBJECT_EVENTS];
	size_t max;       /* so many may be made; 0: no limit */
	const char *full; /* what to do then; NULL: nothing */
	/* What to do where there is one of that name already, or none any more. */
	enum hint_code taken, gone;
	void (*load)(struct core *c, const void *row);
	/* A part that is loaded, behind its object. NULL: none is. */
	void (*load_part)(struct core *c, const struct row_table *t, const void *row);
	int64_t (*version)(const struct object *o); /* NULL: it has none */
	/* A changed row, which may be the object's own: kept, durable. Needed for object_changed().
	 */
	void (*save)(struct core *c, struct object *o, void *row, struct effects *out);
	/* The name is free. The object is new: only its id, name and kind are set so far. */
	int (*create)(
	    struct core *c, const struct event *ev, rid id, struct reply *r, struct effects *out);
	object_fn *set, *pause, *resume, *remove, *act; /* NULL: it cannot be told that */
	const struct object_past *past;                 /* NULL: none of them does */
	struct owner_kind tasks;
	/* One of them that submits tasks to the queue, or NULL. NULL: none ever does. */
	const struct object *(*user_of)(const struct core *c, rid queue);
	/* A clock was set, or the machine slept; only that zone's, if one is given. NULL: nothing
	 * goes by the clock. */
	void (*time_changed)(struct core *c, const struct zone *z);
	/* What was noted in a step is acted upon: when all else was taken in, and after placement.
	 * NULL: nothing is. */
	void (*work)(struct core *c, struct effects *out);
	void (*placed)(struct core *c, struct effects *out);
	/* Rows were read: EV_TASKS_READ or EV_PARTS_READ. False: it had not asked for them. NULL:
	 * it never asks. */
	bool (*was_read)(struct core *c, const struct event *ev, struct effects *out);
	/* Makes what they share, which is the core's of_kind. NULL: nothing. */
	void (*init)(struct core *c);
	void (*release)(struct core *c); /* all of them, and what they share */
};

/* kinds.c */
extern const struct object_kind *const object_kinds[N_KINDS];
#define X(id, name) extern const struct object_kind name##_kind; /* in its room */
KIND_TABLE(X)
#undef X
void kinds_init(struct core *c);
void kinds_load(struct core *c, const struct row_table *t, const void *row);
const struct object *kinds_user_of(const struct core *c, rid queue);
void kinds_time_changed(struct core *c, const struct zone *z);
void kinds_work(struct core *c, struct effects *out);
void kinds_placed(struct core *c, struct effects *out);
void kinds_were_read(struct core *c, const struct event *ev, struct effects *out);
void kinds_release(struct core *c);

/* object.c */
/* Enters it; its kind, id and name stay as they are, but for object_rename(). */
void object_add(struct core *c, struct object *o, enum kind kind, rid id, struct str name);
void object_del(struct core *c, struct object *o);
void object_rename(struct core *c, struct object *o, struct str name);
void *object_find(const struct core *c, enum kind kind, rid id);
void *object_find_name(const struct core *c, enum kind kind, struct str name);
/* In order of ids. */
void *object_first(const struct core *c, enum kind kind);
void *object_next(const struct object *o);
void *object_from(const struct core *c, enum kind kind, rid id);   /* at or after it */
void *object_before(const struct core *c, enum kind kind, rid id); /* the last one */
/* In order of names; NULL: the first. */
void *object_after(const struct core *c, enum kind kind, struct str name);
#define EACH_OBJECT(var, c, kind) \
	for ((var) = object_first(c, kind); (var); (var) = object_next(&(var)->object))

/* After any change of its row, which may be its own: a version of its own, durable and told. */
void object_changed(struct core *c, struct object *o, void *row, enum object_event what,
    struct str actor, struct str detail, struct effects *out);
/* What every pause and its end set in the row, and say; the rest is the kind's. */
void object_paused(struct core *c, struct object *o, void *row, struct pause *in_row,
    const struct event *ev, struct effects *out);
void object_resumed(struct core *c, struct object *o, void *row, struct pause *in_row,
    struct str actor, struct effects *out);
int object_command(struct core *c, const struct event *ev, struct reply *r, struct effects *out);
void object_audit(struct core *c, const struct object *o, enum object_event what, struct str actor,
    struct str detail, struct effects *out);

/* owner.c: what a task's owner has to say, if it has one: see struct owner_kind. */
void owner_task_live(struct core *c, const struct owner *of, rid task, rid queue);
void owner_task_ended(struct core *c, const struct owner *of, rid task);
void owner_task_waits(struct core *c, const struct owner *of, rid task);
struct str owner_env(
    const struct core *c, const struct task_row *t, struct str env, struct arena *a);
struct str owner_triggers(const struct core *c, const struct owner *of, struct arena *a);
bool owner_delays(struct core *c, const struct task *t);
bool owner_is_shown(const struct core *c, const struct owner *of);
void owner_order(const struct core *c, const struct task *t, struct link_run *run, struct arena *a);
void owner_fares(struct core *c, const struct task *t, const struct link_fares *fares);
void owner_task_lost(struct core *c, const struct task *t, int64_t hold_ms);
/* False: it goes back to its queue. */
bool owner_given_back(struct core *c, const struct task *t, struct str reason, bool refused);
bool owner_keeps_name(const struct owner *of);
const char *owner_refuses(const struct core *c, const struct task *t, const struct event *ev);
/* An operator fails the task. False: its owner's kind knows no such thing. */
bool owner_may_fail(const struct core *c, const struct task *t);
void owner_failed(
    struct core *c, const struct task *t, struct str reason, struct str actor, struct effects *out);
/* TASK_QUEUED or TASK_BLOCKED, as was asked for, unless its owner has a say in it. */
int owner_released(const struct core *c, const struct task *t, int to);
bool owner_why(
    struct why_answer *an, const struct core *c, const struct task_row *t, int32_t status);

#endif
