/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do rows agree with each other? A checksum tells that a row was changed, not that one is gone;
 * and a task's rank is in none, because a change of its queue's order rewrites it. Both follow from
 * other rows. Only what fits its own checksum is listened to: one damaged row is one finding.
 */
#include <stdio.h>

#include "base/mem.h"
#include "model/objects/queue.h"
#include "store/sql/agree.h"

/* What is known of a row that is there: values of the maps. */
static char there, by_priority, damaged;

void agree_release(struct agree *g)
{
	for (int i = 0; i < N_TABLES; i++)
		idmap_release(&g->there[i]);
	idmap_release(&g->told);
	sql_query_release(&g->find_task);
}

/* A row that is gone may be missed by many others. */
static void tell_gone(struct agree *g, const char *table, rid id, const char *what)
{
	if (!id || idmap_get(&g->told, id))
		return;
	idmap_put(&g->told, id, &there);
	g->tell(g->arg, table, id, what);
}

static void saw_queue(struct agree *g, unsigned damage, const struct queue_row *q)
{
	char *is = damage & 1 ? &damaged : q->order == ORDER_PRIORITY ? &by_priority : &there;

	if (q->id)
		idmap_put(&g->there[TABLE_QUEUE], q->id, is);
}

static void look_at_task(struct agree *g, unsigned damage, const struct task_row *t)
{
	int64_t rank = 0;
	char *queue;

	g->n_tasks += t->id <= g->last_id;
	if (damage & (DAMAGED_SPEC | DAMAGED_STATE) || !g->is_read[TABLE_QUEUE])
		return;
	queue = idmap_get(&g->there[TABLE_QUEUE], t->spec.queue);
	if (!queue)
		tell_gone(g, "queue", t->spec.queue, "it is gone, and tasks of it are there");
	else if (queue == &by_priority)
		rank = -(int64_t)t->spec.priority;
	/* of what does not wait it is old, and made anew when it waits again */
	if (queue && queue != &damaged && t->state.status == TASK_QUEUED && t->state.rank != rank)
		g->tell(
		    g->arg, "task", t->id, "its place in the queue is not that of its priority");
}

/* One that cannot be read is a finding of its own. */
static bool task_is_there(struct agree *g, rid id)
{
	struct sql_query *q = &g->find_task;
	int64_t n;
	bool found;

	if (!q->n_params) {
		sql_query_begin(q, g->reader);
		sql_term(q, "SELECT 1 FROM task {} WHERE id = ?", 0);
	}
	q->params[0].n = (int64_t)id;
	return sql_number(g->reader, q, &found, &n) != 0 || found;
}

static void look_at_output(struct agree *g, const struct output_row *o)
{
	if (!task_is_there(g, o->task))
		tell_gone(g, "task", o->task, "it is gone, and what it wrote is there");
}

static void saw_object(struct agree *g, const struct row_table *t, const void *row)
{
	rid id = (rid)column_i64(&t->columns[0], row);

	if (id)
		idmap_put(&g->there[t->number], id, &there);
}

static void look_at_part(struct agree *g, const struct row_table *t, const void *row)
{
	const struct row_table *of = t->belongs_to;
	rid id = (rid)column_i64(&t->columns[0], row);
	char words[80];

	if (!g->is_read[of->number] || idmap_get(&g->there[of->number], id))
		return;
	snprintf(words, sizeof words, "it is gone, and its %ss are there", t->name);
	tell_gone(g, of->name, id, words);
}

void agree_row(struct agree *g, const struct row_table *t, unsigned damage, const void *row)
{
	if (t == &queue_table)
		saw_queue(g, damage, row);
	else if (t == &task_table)
		look_at_task(g, damage, row);
	else if (t->is_loaded && t->has_id)
		saw_object(g, t, row);
	else if (damage)
		return;
	else if (t == &output_table)
		look_at_output(g, row);
	else if (t->belongs_to)
		look_at_part(g, t, row);
}

static int body_without_task(void *arg, const int64_t *id)
{
	tell_gone(arg, "task", (rid)*id, "it is gone, and what it runs is there");
	return 0;
}

/* Long bodies have no checksum of their own, so nobody has read them; but each has a task. */
static void look_at_far_bodies(struct agree *g)
{
	AUTO(sql_query_release) struct sql_query q;

	sql_query_begin(&q, g->reader);
	sql_add(&q.text, "SELECT id FROM task_body WHERE NOT EXISTS"
	                 " (SELECT 1 FROM task {} WHERE task.id = task_body.id)");
	g->reader->sql->numbers(g->reader, &q, 1, body_without_task, g);
}

static void compare_count(struct agree *g)
{
	int64_t gone = g->n_counted - g->n_tasks;
	char words[80];

	if (!g->last_id || gone == 0)
		return;
	snprintf(words, sizeof words, "%lld %s", (long long)(gone > 0 ? gone : -gone),
	    gone > 0 ? "of those that were written are gone" : "more than were written");
	g->tell(g->arg, "task", 0, words);
}

void agree_table_end(struct agree *g, const struct row_table *t)
{
	g->is_read[t->number] = true;
	if (t == &task_table)
		compare_count(g);
	if (t == &output_table)
		look_at_far_bodies(g);
}
