/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that do not fit their checksums, at a start. A queue or a schedule is there by its name, but
 * paused, with the reason, and without what it would have run; a token is there, and admits
 * nobody; a worker is there as one that nobody has heard of; the rest works. Of what the server
 * itself goes by (meta) nothing can be left out: the start is refused.
 */
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

#define SET_ANEW \
	"damaged: its row in the store does not fit its checksum; set it anew, then resume it"
#define LOOK_AT \
	"damaged: its numbers in the store do not fit their checksum; look at it, then resume it"

int quarantine_refuse(const char *kind, struct str name, struct problem *ret_problem)
{
	problem_set(ret_problem, ERR_STORE,
	    "the store is damaged (%s%s" STR_FMT " does not fit its checksum)", kind,
	    name.n ? " " : "", (int)(name.n < 64 ? name.n : 64), name.p ? name.p : "");
	return problem_hint(
	    ret_problem, "`reeve store check` names everything that is; restore a backup");
}

/* Nobody else has it: names are looked up, and what two have would mean the wrong one. */
static bool is_only_one(sqlite3_stmt *row, const struct row_table *t, struct str name)
{
	AUTO(buf_release) struct buf sql = {0};
	sqlite3_stmt *st = NULL;
	bool only;

	buf_printf(&sql, "SELECT count(*) FROM %s WHERE %s = ?", t->name, sqlite_name_column(t));
	if (sqlite3_prepare_v2(sqlite3_db_handle(row), sql.p, -1, &st, NULL) != SQLITE_OK)
		return false;
	sqlite_bind_str(st, 1, name, false);
	only = sqlite3_step(st) == SQLITE_ROW && sqlite3_column_int64(st, 0) == 1;
	sqlite3_finalize(st);
	return only;
}

/* Its name as it is stored, if it can be one and nobody else has it; else one made of its id. */
static struct str name_for(
    const struct quarantine *q, const struct row_table *t, rid id, const char *fate)
{
	struct str name = sqlite_stored_text(q->st, t, sqlite_name_column(t));
	char text[ID_TEXT];

	if (!name.p || name.n > 64 || !is_only_one(q->st, t, name))
		name = arena_strf(q->arena, STORE_DAMAGED "-%s", id_format(q->ids, id, text));
	else
		name = arena_str(q->arena, name);
	log_error(
	    "the %s " STR_FMT " is damaged in the store, and %s", t->name, STR_ARG(name), fate);
	return name;
}

/* It may be as good as ever; at least it is a time. */
static int64_t made_ms(int64_t stored_ms)
{
	int64_t now = clock_wall_ms();

	return stored_ms > 0 && stored_ms <= now ? stored_ms : now;
}

void quarantine_queue(const struct quarantine *why, struct queue_row *q)
{
	struct queue_row kept = *q;
	bool unknown = why->damage & 1u;
	struct str name = name_for(why, &queue_table, q->id, "is paused");

	if (unknown) {
		queue_defaults(q);
		q->id = kept.id;
		q->name = name;
		q->plugin = STR(STORE_DAMAGED); /* no worker has it */
		q->ctime_ms = q->mtime_ms = made_ms(kept.ctime_ms);
	}
	q->n_succeeded = q->n_failed = q->n_other = 0;
	q->paused = 1;
	q->paused_until_ms = 0;
	q->pause_reason = unknown ? STR(SET_ANEW) : STR(LOOK_AT);
}

void quarantine_schedule(const struct quarantine *why, struct schedule_row *s)
{
	struct schedule_row kept = *s;
	bool unknown = why->damage & 1u;
	struct str name = name_for(why, &schedule_table, s->id, "is paused");

	if (unknown) /* without items it can not fire, whoever resumes it */
		*s = (struct schedule_row){.id = kept.id,
		    .name = name,
		    .queue = kept.queue,
		    .body = STR("{}"),
		    .version = 1,
		    .ctime_ms = made_ms(kept.ctime_ms)};
	memset(&s->progress, 0, sizeof s->progress); /* it begins anew, and not with some past */
	s->state = SCHEDULE_PAUSED;
	s->paused_ms = clock_wall_ms();
	s->paused_until_ms = 0;
	s->pause_reason = unknown ? STR(SET_ANEW) : STR(LOOK_AT);
}

/* One whose rights are not certain admits nobody. It is there to be seen, and revoked. */
void quarantine_token(const struct quarantine *why, struct token_row *t)
{
	*t = (struct token_row){.id = t->id,
	    .name = name_for(why, &token_table, t->id, "admits nobody: make another"),
	    .creator = STR(""),
	    .ctime_ms = made_ms(t->ctime_ms),
	    .damaged = true};
}

/*
 * Nobody knows its key, its lock, whether it was lost, or what a volatile server gave it. So nobody
 * can come back as it, it counts as there until it must have ended by itself, and a server that
 * waits needs its word. Its instance may be right, and is fenced then; it is never 0.
 */
void quarantine_worker(const struct quarantine *why, struct worker_row *w)
{
	uint64_t instance = w->facts.instance ? w->facts.instance : w->id;

	*w = (struct worker_row){.id = w->id,
	    .facts =
	        {
	            .shard = name_for(why, &worker_table, w->id, "is nobody until it is lost"),
	            .instance = instance,
	            .lock = STR(""),
	            .key = STR(WORKER_KEY_UNKNOWN),
	            .host = STR(STORE_DAMAGED),
	            .zone = STR(""),
	            .target = STR(""),
	            .version = STR(""),
	            .labels = STR(""),
	            .plugins = STR(""),
	            .active_queues = STR(""),
	            .ignore_queues = STR(""),
	        },
	    .maxthreads_set = -1,
	    .state = WORKER_NEW,
	    .unwritten = 1,
	    .first_seen_ms = made_ms(w->first_seen_ms),
	    .last_seen_ms = made_ms(w->last_seen_ms),
	    .version = 1};
}
