/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nouns: what the server keeps under a name, and what can be done with every such thing. A noun is
 * a row; the first word of a command says which, so that one handler lists them all.
 */
#ifndef CLI_NOUN_H
#define CLI_NOUN_H

#include "cli/nouns/body.h"
#include "cli/output/output.h"

struct listing {
	const struct heading *columns;
	size_t n_columns;
	int64_t usual, most;   /* how many people are shown (0: all), how many may be asked for */
	const char *none;      /* said of a list without items … */
	const char *none_such; /* … and when only some were asked for; NULL: the same */
	void (*nothing)(struct cli *c); /* more words about an empty list; NULL: none */
	/* For people only: adds to the items what the columns need; says more below the table. */
	void (*prepare)(struct cli *c, const json_t *items);
	void (*remarks)(struct cli *c, const json_t *items);
};

struct view {
	const struct fact *facts;
	size_t n_facts;
	int (*more)(struct cli *c, const json_t *object); /* below them; NULL: nothing */
};

struct noun {
	const char *word; /* "queue" */
	const char *path; /* "/v1/queues" */
	const struct listing *list;
	const struct view *view;
	/* Members of its JSON that options set: the given ones of a table, or else settings; also
	 * those of a pause; NULL: no such verb. */
	const struct field *fields;
	const struct setting *settings, *pause;
	const char *set_hint; /* when nothing was given to set; NULL: where they are listed */
	const char *gone;     /* "deleted": what becomes of it by `rm` */
	/* Where names are ids; NULL: they are taken as typed. */
	int (*resolve)(struct cli *c, const char *typed, char ret_id[25]);
	/* The server knows no such name: what else it may be, as a hint; NULL: nothing. */
	void (*unknown)(struct cli *c, const char *name);
	bool has_names; /* with resolve: only @last has to be resolved */
	/* Parameters of its list; NULL: the command's own options by their names. */
	int (*query)(struct cli *c, struct buf *url);
};

extern const struct listing batch_list, domain_list, graph_list, group_list, queue_list,
    schedule_list, service_list, task_list, token_list, worker_list;
extern const struct view batch_view, domain_view, graph_view, group_view, queue_view, schedule_view,
    service_view, task_view, worker_view;
#define NOUN_TABLE(X) \
	X(batch)      \
	X(domain)     \
	X(graph)      \
	X(group) X(queue) X(schedule) X(service) X(task) X(token) X(worker)
#define X(word) extern const struct noun word##_noun;
NOUN_TABLE(X)
#undef X
/* Nouns that tasks belong to, and what a task is to one, in words; NULL: it is not of that noun. */
#define OWNER_TABLE(X) X(schedule) X(group) X(service)
#define X(word) char *word##_of_task(const struct cli *c, const json_t *task);
OWNER_TABLE(X)
#undef X
/* Which of its members options set; NULL: none. */
const struct setting *noun_settings(const struct noun *n, struct made_settings *made);
/* By a word of `n` bytes; NULL: there is none. */
const struct noun *noun_find(const char *word, size_t n);

/* Verbs: handlers of the table of commands. */
int noun_ls(struct cli *c);
int noun_show(struct cli *c);
int noun_create(struct cli *c);
int noun_set(struct cli *c);
int noun_pause(struct cli *c);
int noun_resume(struct cli *c);
int noun_rm(struct cli *c);

/* What verbs of one noun are made of. */
typedef int noun_fn(struct cli *c, const struct noun *n, const char *name);
/* Does it to each that the line names, until one fails. */
int noun_each(struct cli *c, noun_fn *fn);
/* Refuses more than one name. */
int noun_alone(struct cli *c);
/* "/v1/queues/NAME/verb"; the verb may be NULL. Fails only where names are ids. */
int noun_path(
    struct cli *c, const struct noun *n, const char *name, const char *verb, struct buf *ret_path);
/* One request to that path. */
int noun_call(struct cli *c, const char *method, const struct noun *n, const char *name,
    const char *verb, json_t *body, json_t **ret_json);
int noun_get(struct cli *c, const struct noun *n, const char *name, json_t **ret_object);
/* Looks at it until none of its tasks runs; says on standard error how many still do, if wanted. */
typedef int64_t noun_running(const json_t *object);
int noun_wait_idle(
    struct cli *c, const struct noun *n, const char *name, noun_running *running, bool tells);
/* POSTs the verb, and tells what it did: "queue NAME paused". */
int noun_act(struct cli *c, const struct noun *n, const char *name, const char *verb, json_t *body,
    const char *done);
/* DELETEs it; switches of the line (but --yes) are parameters. */
int noun_delete(struct cli *c, const struct noun *n, const char *name);

/* A change that is made of the line, and perhaps put over what there is. */
struct change {
	bool needs_old;
	int (*fill)(struct cli *c, void *arg, const json_t *old, json_t *body);
	void *arg;
};
/* PATCHes it, again when somebody else was faster. */
int noun_change(struct cli *c, const struct noun *n, const char *name, const struct change *change,
    json_t **ret_changed);
/* The same by the noun's settings. */
int noun_apply(struct cli *c, const struct noun *n, const char *name, json_t **ret_changed);

/* The list at `url`, as the listing says. */
int listing_show(struct cli *c, const struct listing *l, const char *url);

#endif
