/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The meaning of an action's inner nodes: what begins when, what an end means, what is ended by
 * it. It touches nothing: leaves are started and ended by the hands it is given, time is told.
 *
 *   idle --begin--> running --its leaf reports, or its inner actions are over--> over
 *                      └─end─> ending ────────────────────────────────────────────┘
 *
 * The table is in tree.c; node_move() makes every move.
 */
#ifndef ACTION_TREE_H
#define ACTION_TREE_H

#include "base/arena.h"
#include "base/moves.h"
#include "model/run/action.h"

enum node_state { NODE_IDLE, NODE_RUNNING, NODE_ENDING, NODE_OVER };

enum outcome_kind { OUTCOME_GOOD, OUTCOME_FAILED, OUTCOME_CANCELLED };

struct outcome {
	enum outcome_kind kind;
	int exit_code;    /* of a failed run; else 1 */
	const char *text; /* of a failure: for people */
	const char *told; /* the same, and which step it was; NULL: the text, of the only step */
};

struct node {
	const struct action *action;
	struct node *parent; /* NULL: the root */
	struct node *inner;
	size_t n_inner, n_over;
	struct str log_source; /* the node's own, or that of the nearest around it */
	enum node_state state;
	struct outcome outcome; /* once it is over */
	int64_t due_ms;         /* timeout: when it ends what is in it */
	bool timed_out;
	struct node *first_over; /* with sidecars: which of them ended it; NULL: none yet */
	struct node *next_over;  /* in the list of nodes whose parents have not heard yet */
	void *hand;              /* of a leaf: whoever runs it keeps its things here */
};

/* Nothing here may call back into the tree but tree_leaf_over(). */
struct tree_hands {
	void (*start)(void *arg, struct node *leaf); /* run, download, upload */
	void (*end)(void *arg, struct node *leaf);   /* soon; it reports as always */
	void (*say)(void *arg, const struct node *n, bool is_error, const char *text);
	void *arg;
};

struct tree {
	struct tree_hands hands;
	struct arena arena;
	struct node *root;
	struct node *over_first, **over_last;
	int64_t now_ms;
	bool is_over;
	bool cancelled;
	/* Somebody looks whether it is well. So the main action of one with sidecars goes on when
	 * its programs have exited with 0: they are daemons. */
	bool is_monitored;
};

extern const struct moves node_moves;

void node_move(struct node *n, enum node_state to);
void tree_init(struct tree *t, const struct action *root, const struct tree_hands *hands);
void tree_release(struct tree *t);
void tree_start(struct tree *t, int64_t now_ms);
/* What a program of this leaf leaves behind is wanted, if it exits with 0. */
bool tree_may_detach(const struct tree *t, const struct node *leaf);
/* A leaf is over; the text is copied. What follows from it happens in tree_step(). */
void tree_leaf_over(struct tree *t, struct node *leaf, struct outcome outcome);
/* Time has passed, leaves have reported: go on. */
void tree_step(struct tree *t, int64_t now_ms);
/* When tree_step() is needed even if no leaf reports; -1: never. */
int64_t tree_due_ms(const struct tree *t);
/* Ends everything: the outcome is then "Cancelled". */
void tree_cancel(struct tree *t);
/* Once t->is_over. */
struct outcome tree_outcome(const struct tree *t);

#endif
