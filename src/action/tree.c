/* SPDX-License-Identifier: Apache-2.0 */
#include "action/tree.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "wire/json/action.h"

#define MERGED_MAX 2048 /* of many failures the first say enough */

static const struct outcome good = {.kind = OUTCOME_GOOD};
static const struct outcome cancelled = {OUTCOME_CANCELLED, 1, "Cancelled", NULL};

const struct moves node_moves = {
    "action node",
    {[NODE_IDLE] = "idle",
        [NODE_RUNNING] = "running",
        [NODE_ENDING] = "ending",
        [NODE_OVER] = "over"},
    {
        {NODE_IDLE, NODE_RUNNING, "what is around it begins it"},
        {NODE_RUNNING, NODE_ENDING, "cancelled, too late, or a codependent step is over"},
        {NODE_RUNNING, NODE_OVER, "its program or transfer is over, or what is in it"},
        {NODE_ENDING, NODE_OVER, "its program or transfer is over, or what is in it"},
    },
};

void node_move(struct node *n, enum node_state to)
{
	n->state = moves_make(&node_moves, n->state, to);
}

static bool is_leaf(const struct node *n)
{
	return n->n_inner == 0;
}

static void plant(struct tree *t, struct node *n, const struct action *a, struct node *parent)
{
	n->action = a;
	n->parent = parent;
	n->log_source = a->log_source.p || !parent ? a->log_source : parent->log_source;
	n->n_inner = a->n_inner;
	n->inner = arena_zalloc(&t->arena, (a->n_inner + 1) * sizeof *n->inner);
	for (size_t i = 0; i < a->n_inner; i++)
		plant(t, &n->inner[i], a->inner[i], n);
}

void tree_init(struct tree *t, const struct action *root, const struct tree_hands *hands)
{
	*t = (struct tree){.hands = *hands};
	t->over_last = &t->over_first;
	t->root = arena_zalloc(&t->arena, sizeof *t->root);
	plant(t, t->root, root, NULL);
}

void tree_release(struct tree *t)
{
	arena_release(&t->arena);
}

static void say(struct tree *t, const struct node *n, bool is_error, struct str text)
{
	if (text.n)
		t->hands.say(t->hands.arg, n, is_error, text.p);
}

static bool has_setup(const struct node *n)
{
	return n->action->kind == ACTION_WITH_SIDECARS && n->action->sidecars.setup;
}

static const struct node *main_of(const struct node *n)
{
	return &n->inner[has_setup(n) ? 1 : 0];
}

bool tree_may_detach(const struct tree *t, const struct node *n)
{
	for (; n->parent && t->is_monitored; n = n->parent)
		if (n->parent->action->kind == ACTION_WITH_SIDECARS && n == main_of(n->parent))
			return true;
	return false;
}

static void begin(struct tree *t, struct node *n)
{
	bool one_at_a_time = n->action->kind == ACTION_SERIAL || has_setup(n);

	node_move(n, NODE_RUNNING);
	if (is_leaf(n)) {
		t->hands.start(t->hands.arg, n);
		return;
	}
	if (n->action->kind == ACTION_TIMEOUT)
		n->due_ms = t->now_ms + n->action->timeout_ms;
	if (n->action->kind == ACTION_EMIT_PROGRESS)
		say(t, n, false, n->action->progress.start);
	for (size_t i = 0; i < (one_at_a_time ? 1 : n->n_inner); i++)
		begin(t, &n->inner[i]);
}

static void finish(struct tree *t, struct node *n, struct outcome o)
{
	node_move(n, NODE_OVER);
	n->outcome = o;
	n->next_over = NULL;
	*t->over_last = n;
	t->over_last = &n->next_over;
}

static void end(struct tree *t, struct node *n);

static void end_inner(struct tree *t, struct node *n)
{
	for (size_t i = 0; i < n->n_inner; i++)
		end(t, &n->inner[i]);
}

static void end(struct tree *t, struct node *n)
{
	if (n->state != NODE_RUNNING)
		return;
	node_move(n, NODE_ENDING);
	if (is_leaf(n))
		t->hands.end(t->hands.arg, n);
	else if (n->n_over < n->n_inner)
		end_inner(t, n);
	else
		finish(t, n, cancelled); /* only what it left behind goes on */
}

static void add_place(struct buf *b, const struct node *p, const struct node *n)
{
	bool is_list = p->action->kind == ACTION_SERIAL || p->action->kind == ACTION_PARALLEL ||
	               p->action->kind == ACTION_CODEPENDENT;

	if (is_list)
		buf_printf(b, ".actions[%zu]", (size_t)(n - p->inner));
	else if (p->action->kind == ACTION_WITH_SIDECARS && n < main_of(p))
		buf_add_cstr(b, ".setup");
	else if (p->action->kind == ACTION_WITH_SIDECARS && n > main_of(p))
		buf_printf(b, ".sidecars[%zu]", (size_t)(n - main_of(p) - 1));
	else
		buf_add_cstr(b, ".action");
}

/* As in the action's JSON: "action.serial.actions[1].run". */
static void add_path(struct buf *b, const struct node *n)
{
	const struct node *p = n->parent;

	if (!p) {
		buf_add_cstr(b, "action");
	} else {
		add_path(b, p);
		add_place(b, p, n);
	}
	buf_printf(b, ".%s", action_kind_names[n->action->kind]);
}

static const char *with_step(struct tree *t, const char *text, const struct node *n)
{
	AUTO(buf_release) struct buf path = {0};

	if (!n->parent)
		return NULL;
	add_path(&path, n);
	return arena_printf(&t->arena, "%s (%s)", text, path.p);
}

static const char *told_of(const struct outcome *o)
{
	return o->told ? o->told : o->text;
}

void tree_leaf_over(struct tree *t, struct node *leaf, struct outcome o)
{
	bool was_ended = leaf->state == NODE_ENDING;

	MUST(is_leaf(leaf) && leaf->state != NODE_OVER);
	if (was_ended) /* how it took that is not its failure */
		o = cancelled;
	if (o.kind == OUTCOME_FAILED) {
		o.text = arena_strdup(&t->arena, o.text);
		o.told = with_step(t, o.text, leaf);
		say(t, leaf, true, str_of(o.text));
	}
	finish(t, leaf, o);
}

static struct outcome both(struct tree *t, const struct outcome *a, const struct outcome *b)
{
	return (struct outcome){OUTCOME_FAILED, 1,
	    arena_printf(&t->arena, "%s; %s", a->text, b->text),
	    arena_printf(&t->arena, "%s; %s", told_of(a), told_of(b))};
}

/* Every failure in it, in the order of the list. */
static struct outcome merge(struct tree *t, const struct node *n)
{
	struct outcome o = n->state == NODE_ENDING ? cancelled : good;

	for (size_t i = 0; i < n->n_inner && n->state != NODE_ENDING; i++) {
		const struct outcome *inner = &n->inner[i].outcome;

		if (inner->kind != OUTCOME_FAILED)
			continue;
		if (o.kind == OUTCOME_FAILED && strlen(told_of(&o)) > MERGED_MAX)
			break;
		o = o.kind == OUTCOME_FAILED ? both(t, &o, inner) : *inner;
		o.exit_code = 1;
	}
	return o;
}

static void serial_heard(struct tree *t, struct node *n, struct node *inner)
{
	if (inner->outcome.kind != OUTCOME_GOOD)
		finish(t, n, inner->outcome);
	else if (n->state == NODE_ENDING)
		finish(t, n, cancelled);
	else if (n->n_over < n->n_inner)
		begin(t, inner + 1);
	else
		finish(t, n, good);
}

static void parallel_heard(struct tree *t, struct node *n, struct node *inner)
{
	if (n->n_over == n->n_inner)
		finish(t, n, merge(t, n));
}

static void codependent_heard(struct tree *t, struct node *n, struct node *inner)
{
	static const char text[] = "Codependent step exited";
	struct outcome o;

	if (!n->first_over)
		n->first_over = inner;
	end_inner(t, n);
	if (n->n_over < n->n_inner)
		return;
	o = merge(t, n);
	if (o.kind == OUTCOME_GOOD)
		o = (struct outcome){OUTCOME_FAILED, 1, text, with_step(t, text, n->first_over)};
	finish(t, n, o);
}

static void setup_heard(struct tree *t, struct node *n, struct node *setup)
{
	if (setup->outcome.kind != OUTCOME_GOOD)
		finish(t, n, setup->outcome);
	else if (n->state == NODE_ENDING)
		finish(t, n, cancelled);
	else
		for (size_t i = 1; i < n->n_inner; i++)
			begin(t, &n->inner[i]);
}

static struct outcome sidecars_outcome(struct tree *t, const struct node *n)
{
	static const char text[] = "Sidecar exited";
	const struct outcome *first = &n->first_over->outcome;

	if (n->state == NODE_ENDING)
		return cancelled;
	if (n->first_over != main_of(n) && first->kind == OUTCOME_GOOD)
		return (struct outcome){OUTCOME_FAILED, 1, text, with_step(t, text, n->first_over)};
	return *first;
}

static void sidecars_heard(struct tree *t, struct node *n, struct node *inner)
{
	bool good_end = inner == main_of(n) && inner->outcome.kind == OUTCOME_GOOD;

	if (has_setup(n) && inner == n->inner) {
		setup_heard(t, n, inner);
		return;
	}
	if (good_end && t->is_monitored && n->state == NODE_RUNNING && !n->first_over)
		return; /* its daemons go on, until a look says that they are not well */
	if (!n->first_over)
		n->first_over = inner;
	end_inner(t, n);
	if (n->n_over == n->n_inner)
		finish(t, n, sidecars_outcome(t, n));
}

static const char *duration_text(int64_t ms, char out[TIME_TEXT_MAX])
{
	if (ms % 1000 || ms >= 120000)
		return time_human_ms(ms, out);
	snprintf(out, TIME_TEXT_MAX, "%llds", (long long)ms / 1000);
	return out;
}

static void timeout_heard(struct tree *t, struct node *n, struct node *inner)
{
	bool has_text = inner->outcome.kind == OUTCOME_FAILED;
	struct outcome o = {OUTCOME_FAILED, 1, NULL, NULL};
	char limit[TIME_TEXT_MAX];

	if (!n->timed_out || n->state == NODE_ENDING) {
		finish(t, n, inner->outcome);
		return;
	}
	o.text = arena_printf(
	    &t->arena, "exceeded %s timeout", duration_text(n->action->timeout_ms, limit));
	o.told = with_step(t, o.text, n);
	if (has_text)
		o = both(t, &o, &inner->outcome);
	say(t, n, true, str_of(o.text));
	finish(t, n, o);
}

static void try_heard(struct tree *t, struct node *n, struct node *inner)
{
	if (inner->outcome.kind != OUTCOME_FAILED) {
		finish(t, n, inner->outcome);
		return;
	}
	say(t, n, true, arena_strf(&t->arena, "Ignored: %s", inner->outcome.text));
	finish(t, n, good);
}

static void progress_heard(struct tree *t, struct node *n, struct node *inner)
{
	const struct action_progress *p = &n->action->progress;

	if (inner->outcome.kind == OUTCOME_GOOD)
		say(t, n, false, p->success);
	else if (p->failure_prefix.n)
		say(t, n, true,
		    arena_strf(&t->arena, "%s: %s", p->failure_prefix.p, inner->outcome.text));
	finish(t, n, inner->outcome);
}

static void (*const heard[N_ACTION_KINDS])(struct tree *, struct node *, struct node *) = {
    [ACTION_SERIAL] = serial_heard,
    [ACTION_PARALLEL] = parallel_heard,
    [ACTION_CODEPENDENT] = codependent_heard,
    [ACTION_WITH_SIDECARS] = sidecars_heard,
    [ACTION_TIMEOUT] = timeout_heard,
    [ACTION_TRY] = try_heard,
    [ACTION_EMIT_PROGRESS] = progress_heard,
};

/* A queue, not recursion: of a thousand steps that fail at once none is deeper than the first. */
static void tell_parents(struct tree *t)
{
	struct node *n;

	while ((n = t->over_first)) {
		t->over_first = n->next_over;
		if (!t->over_first)
			t->over_last = &t->over_first;
		if (!n->parent) {
			t->is_over = true;
			continue;
		}
		n->parent->n_over++;
		heard[n->parent->action->kind](t, n->parent, n);
	}
}

static bool is_waiting(const struct node *n)
{
	return n->action->kind == ACTION_TIMEOUT && n->state == NODE_RUNNING && !n->timed_out;
}

static void look_at_time(struct tree *t, struct node *n)
{
	if (n->state != NODE_RUNNING)
		return;
	if (is_waiting(n) && n->due_ms <= t->now_ms) {
		n->timed_out = true;
		end_inner(t, n);
	}
	for (size_t i = 0; i < n->n_inner; i++)
		look_at_time(t, &n->inner[i]);
}

void tree_start(struct tree *t, int64_t now_ms)
{
	t->now_ms = now_ms;
	begin(t, t->root);
	tell_parents(t);
}

void tree_step(struct tree *t, int64_t now_ms)
{
	t->now_ms = now_ms;
	tell_parents(t); /* what was over in time is not late */
	look_at_time(t, t->root);
	tell_parents(t);
}

static int64_t due_in(const struct node *n)
{
	int64_t due = is_waiting(n) ? n->due_ms : -1, inner;

	for (size_t i = 0; n->state == NODE_RUNNING && i < n->n_inner; i++) {
		inner = due_in(&n->inner[i]);
		if (inner >= 0 && (due < 0 || inner < due))
			due = inner;
	}
	return due;
}

int64_t tree_due_ms(const struct tree *t)
{
	return due_in(t->root);
}

void tree_cancel(struct tree *t)
{
	t->cancelled = true;
	end(t, t->root);
}

struct outcome tree_outcome(const struct tree *t)
{
	MUST(t->is_over);
	if (t->cancelled && t->root->outcome.kind != OUTCOME_GOOD)
		return (struct outcome){OUTCOME_FAILED, 1, cancelled.text, NULL};
	return t->root->outcome;
}
