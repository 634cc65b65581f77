/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that do not fit their checksums, at a start. A queue or a schedule is there by its name, but
 * paused, with the reason, and without what it would have run; the rest works. Of what the
 * server itself goes by (meta, workers) nothing can be left out: the start is refused.
 */
#include <string.h>

#include "base/log.h"
#include "store/sqlite.h"

#define SET_ANEW \
	"damaged: its row in the store does not fit its checksum; set it anew, then resume it"
#define LOOK_AT \
	"damaged: its numbers in the store do not fit their checksum; look at it, then resume it"

int quarantine_refuse(const char *kind, struct str name, struct problem *ret_problem)
{
	problem_set(ret_problem, ERR_STORE,
	    "the store is damaged (%s " STR_FMT " does not fit its checksum)", kind,
	    (int)(name.n < 64 ? name.n : 64), name.p ? name.p : "");
	return problem_hint(
	    ret_problem, "`reeve store check` names everything that is; restore a backup");
}

/* Its name as it is stored, if it can be one and nobody else has it; else one made of its id. */
static struct str name_for(
    sqlite3_stmt *st, const struct row_table *t, const char *kind, rid id, struct arena *a)
{
	int at = 0;
	const char *p;
	struct str name;

	while (strcmp(t->columns[at].name, "name") != 0)
		at++;
	p = (const char *)sqlite3_column_text(st, at);
	name = (struct str){p, p ? (size_t)sqlite3_column_bytes(st, at) : 0};
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] <= ' ' || name.p[i] > '~')
			name.n = 0;
	if (!name.n || name.n > 64)
		return arena_strf(a, "damaged-%llu", (unsigned long long)id);
	log_error("the %s " STR_FMT " is damaged in the store, and is paused", kind, STR_ARG(name));
	return arena_strf(a, STR_FMT, STR_ARG(name));
}

void quarantine_queue(sqlite3_stmt *st, unsigned damage, struct arena *a, struct queue_row *q)
{
	struct queue_row kept = *q;

	if (damage & 1u) {
		queue_defaults(q);
		q->id = kept.id;
		q->name = name_for(st, &queue_table, "queue", q->id, a);
		q->plugin = STR(STORE_DAMAGED); /* no worker has it */
		q->ctime_ms = q->mtime_ms = kept.ctime_ms > 0 ? kept.ctime_ms : 1;
	}
	q->n_succeeded = q->n_failed = q->n_other = 0;
	q->paused = 1;
	q->paused_until_ms = 0;
	q->pause_reason = damage & 1u ? STR(SET_ANEW) : STR(LOOK_AT);
}

void quarantine_schedule(sqlite3_stmt *st, unsigned damage, struct arena *a, struct schedule_row *s)
{
	struct schedule_row kept = *s;

	if (damage & 1u) /* without items it can not fire, whoever resumes it */
		*s = (struct schedule_row){.id = kept.id,
		    .name = name_for(st, &schedule_table, "schedule", kept.id, a),
		    .queue = kept.queue,
		    .body = STR("{}"),
		    .version = 1,
		    .ctime_ms = kept.ctime_ms > 0 ? kept.ctime_ms : 1};
	s->state = SCHEDULE_PAUSED;
	s->paused_ms = 1;
	s->paused_until_ms = 0;
	s->pause_reason = damage & 1u ? STR(SET_ANEW) : STR(LOOK_AT);
}
