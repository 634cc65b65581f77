/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that keeps the index of words: it reads what is new in the database, in small steps,
 * stands back for all others, and sleeps when it has seen all. It is never
 * waited for: tasks that are not in the index yet are found by looking at them.
 *
 * Nothing that happens to the file harms the server: on any trouble it is thrown away, which also
 * gives its room back, and begun anew after a pause.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "base/world/log.h"
#include "store/sqlite/sqlite.h"

#define NICE 15         /* some time on the busiest machine, but little */
#define GATHER_MS 1000  /* after a commit: more will come, and there is no hurry */
#define YIELD_MS 200    /* between reads while others commit; */
#define BEHIND_MS 30000 /* when what is read is older, at most that, */
#define YIELD_FACTOR 24 /* and so many times what the read and its writing took */
#define TROUBLE_MS 60000
#define READ_ROWS 200           /* held in memory at a time, */
#define READ_BYTES (4u << 20)   /* and their texts */
#define STEP_ROWS 4000          /* in one transaction */
#define ROOM_BYTES (256u << 20) /* what must be left for others on the disk */

struct following {
	struct sqlite_store *s;
	sqlite3 *db; /* the database, to read */
	sqlite3_stmt *next, *far, *any;
	struct words words;
	struct buf text;
	rid done_to;    /* of what is written so far */
	size_t n_added; /* since memory was last given back */
};

static void pause_ms(struct follower *f, int64_t ms)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += ms % 1000 * 1000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	while (!atomic_load(&f->stop) && sem_timedwait(&f->wake, &t) < 0 && errno == EINTR)
		;
}

/* The disk's last room is for the database. */
static bool has_room(const char *path)
{
	AUTO(free_cstr) char *dir = xstrdup(path);
	char *slash = strrchr(dir, '/');
	struct statvfs v;

	if (slash)
		slash[slash == dir] = 0;
	if (statvfs(slash ? dir : ".", &v) < 0)
		return false;
	return (uint64_t)v.f_bavail * v.f_frsize >= ROOM_BYTES;
}

static void close_all(struct following *w)
{
	sqlite3_finalize(w->next);
	sqlite3_finalize(w->far);
	sqlite3_finalize(w->any);
	w->next = w->far = w->any = NULL;
	words_close(&w->words);
	sqlite3_close(w->db);
	w->db = NULL;
}

static bool is_open(const struct following *w)
{
	return w->words.db;
}

static int prepare_reads(struct following *w)
{
	static const char next[] = "SELECT id, name, labels, body FROM task NOT INDEXED"
	                           " WHERE id > ?1 ORDER BY id LIMIT ?2";
	int rc = sqlite3_prepare_v2(w->db, next, -1, &w->next, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(
		    w->db, "SELECT body FROM task_body WHERE id = ?1", -1, &w->far, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(w->db,
		    "SELECT 1 FROM task NOT INDEXED WHERE id >= ?1 AND id <= ?2 LIMIT 1", -1,
		    &w->any, NULL);
	return rc;
}

/* Of which database: by its installation, and no further than it goes. */
static int read_whose(struct following *w, struct buf *installation, rid *ret_last)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(w->db,
	    "SELECT (SELECT value FROM meta WHERE name = '" META_INSTALLATION "'),"
	    " (SELECT max(id) FROM task), (SELECT last_id FROM stat)",
	    -1, &st, NULL);

	if (rc == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(st, 0);
		int64_t tasks = sqlite3_column_int64(st, 1), saved = sqlite3_column_int64(st, 2);

		buf_add_cstr(installation, text ? text : "");
		*ret_last = (rid)(tasks > saved ? tasks : saved);
	}
	return rc ? rc : sqlite3_finalize(st);
}

static int open_all(struct following *w)
{
	struct sqlite_store *s = w->s;
	AUTO(buf_release) struct buf installation = {0};
	struct words_of of = {0};
	struct problem ignored;
	int rc;

	if (!has_room(s->path))
		return SQLITE_FULL;
	if (sqlite_connect(s->path, false, false, ROLE_READER, &w->db, &ignored))
		return SQLITE_CANTOPEN;
	rc = sqlite3_exec(w->db, "PRAGMA cache_size = -1000", NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = prepare_reads(w);
	if (rc == SQLITE_OK)
		rc = read_whose(w, &installation, &of.last_id);
	of.installation = installation.n ? buf_str(&installation) : STR("");
	if (rc == SQLITE_OK)
		rc = words_open(&w->words, s->follower.path, &of);
	if (rc == SQLITE_OK)
		rc = words_done_to(w->words.db, &w->done_to);
	if (rc == SQLITE_OK)
		atomic_fetch_add(&s->follower.generation, 1);
	return rc;
}

static struct str text_at(sqlite3_stmt *st, int at)
{
	const char *p = sqlite3_column_blob(st, at);

	return p ? (struct str){p, (size_t)sqlite3_column_bytes(st, at)} : STR_NULL;
}

static int add_task(struct following *w, rid id, struct task_spec *spec)
{
	bool is_far = !spec->body.p;

	if (is_far) {
		sqlite3_bind_int64(w->far, 1, (sqlite3_int64)id);
		if (sqlite3_step(w->far) == SQLITE_ROW)
			spec->body = text_at(w->far, 0);
	}
	search_text(spec, &w->text);
	if (is_far)
		sqlite3_reset(w->far);
	return words_add(&w->words, id, buf_str(&w->text));
}

/* What was read is held, and let go before it is written: the database's log cannot be begun anew
 * while somebody reads. */
struct read_task {
	rid id;
	struct task_spec spec;
};

static int read_some(
    struct following *w, struct arena *a, struct read_task *ret_tasks, size_t *ret_n)
{
	size_t bytes = 0;
	int rc;

	sqlite3_bind_int64(w->next, 1, (sqlite3_int64)w->done_to);
	sqlite3_bind_int64(w->next, 2, READ_ROWS);
	while (bytes < READ_BYTES && (rc = sqlite3_step(w->next)) == SQLITE_ROW) {
		struct read_task *t = &ret_tasks[(*ret_n)++];

		*t = (struct read_task){.id = (rid)sqlite3_column_int64(w->next, 0)};
		t->spec.name = arena_str(a, text_at(w->next, 1));
		t->spec.labels = arena_str(a, text_at(w->next, 2));
		t->spec.body = arena_str(a, text_at(w->next, 3));
		bytes += t->spec.body.n;
	}
	return sqlite3_reset(w->next);
}

/* One read's worth. *ret_n: how many there were. */
static int follow_some(struct following *w, size_t *ret_n)
{
	AUTO(arena_release) struct arena a = {0};
	struct read_task *tasks = arena_alloc(&a, READ_ROWS * sizeof *tasks);
	int rc = read_some(w, &a, tasks, ret_n);

	for (size_t i = 0; i < *ret_n && rc == SQLITE_OK; i++) {
		if (!atomic_load(&w->s->follower.lacks))
			atomic_store(&w->s->follower.lacks, tasks[i].id);
		rc = add_task(w, tasks[i].id, &tasks[i].spec);
		w->done_to = tasks[i].id;
	}
	w->n_added += *ret_n;
	return rc;
}

static bool range_is_gone(void *arg, rid first, rid last)
{
	struct following *w = arg;
	int rc;

	sqlite3_bind_int64(w->any, 1, (sqlite3_int64)first);
	sqlite3_bind_int64(w->any, 2, (sqlite3_int64)last);
	rc = sqlite3_step(w->any);
	sqlite3_reset(w->any);
	return rc == SQLITE_DONE;
}

/* While others are busy, as little as may be: what is new is soon found without an index, too. On a
 * server that never rests, the index would fall behind for ever: when it has, it takes a share of
 * one processor. */
static int64_t yield_ms(rid last, int64_t took_us)
{
	int64_t behind_ms = clock_wall_ms() - id_time_ms(last);
	int64_t ms = took_us * YIELD_FACTOR / 1000 + 1;

	return behind_ms < BEHIND_MS || ms > YIELD_MS ? YIELD_MS : ms;
}

/* One transaction's worth. *ret_more: there may be more. */
static int follow_step(struct following *w, bool *ret_more)
{
	struct follower *f = &w->s->follower;
	unsigned long commits = atomic_load(&f->commits);
	int64_t shard = w->words.shard;
	size_t n = 1, total = 0;
	int rc = has_room(w->s->path) ? words_begin(&w->words) : SQLITE_FULL;

	while (rc == SQLITE_OK && n > 0 && total < STEP_ROWS && !atomic_load(&f->stop)) {
		int64_t began = clock_thread_us();

		n = 0;
		rc = follow_some(w, &n);
		total += n;
		if (atomic_load(&f->writing) || commits != atomic_load(&f->commits)) {
			commits = atomic_load(&f->commits);
			pause_ms(f, yield_ms(w->done_to, clock_thread_us() - began));
		}
	}
	if (rc == SQLITE_OK)
		rc = words_commit(&w->words, w->done_to);
	if (rc == SQLITE_OK) /* what comes next is about as old as what came last */
		atomic_store(&f->lacks, n > 0 ? w->done_to : 0);
	if (rc == SQLITE_OK && shard != w->words.shard)
		rc = words_drop_gone(&w->words, range_is_gone, w);
	*ret_more = n > 0;
	return rc;
}

/* Thrown away; the room is the database's. */
static void give_up(struct following *w)
{
	struct follower *f = &w->s->follower;

	atomic_fetch_add(&f->generation, 1);
	close_all(w);
	words_remove(f->path);
	atomic_store(&f->suspect, false);
}

/* Said once, and known to whoever asks, until it is over. A damaged file is made anew at once: that
 * is said, too, and over by then. */
static void tell_trouble(struct follower *f, int rc)
{
	const char *was = atomic_load(&f->trouble), *now = NULL;

	if (rc == SQLITE_FULL)
		now = "less than 256 MB are free on the disk: every task is looked at instead";
	else if (rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB)
		now = "it is damaged, and being made anew: every task is looked at instead";
	else if (rc)
		now = "its file cannot be read or written: every task is looked at instead";
	atomic_store(&f->trouble, now);
	if (now && now != was)
		log_warn("there is no index of words for searches (%s): %s", f->path, now);
	else if (was && !now)
		log_info("the index of words for searches is there again (%s)", f->path);
}

static void rest(struct following *w)
{
	struct follower *f = &w->s->follower;

	if (is_open(w)) {
		sqlite3_db_release_memory(w->db);
		sqlite3_db_release_memory(w->words.db);
	}
	buf_release(&w->text);
	if (w->n_added >= STEP_ROWS) {
		malloc_trim(0); /* what lies between used memory does not go back by itself */
		w->n_added = 0;
	}
	while (!atomic_load(&f->stop) && !atomic_load(&f->wanted))
		sem_wait(&f->wake);
}

static void *follow(void *arg)
{
	struct following w = {.s = arg};
	struct follower *f = &w.s->follower;
	bool more = true;
	int rc = SQLITE_OK;

	setpriority(PRIO_PROCESS, (id_t)gettid(), NICE); /* of this thread alone */
	while (!atomic_load(&f->stop)) {
		if (atomic_exchange(&f->suspect, false) && is_open(&w))
			rc = SQLITE_CORRUPT;
		else if (!is_open(&w))
			rc = open_all(&w);
		else
			rc = follow_step(&w, &more);
		tell_trouble(f, rc & 0xff);
		if (rc) {
			give_up(&w);
			pause_ms(f,
			    rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB ? GATHER_MS : TROUBLE_MS);
			more = true;
		} else if (!more) {
			rest(&w);
			atomic_store(&f->wanted, false);
			pause_ms(f, GATHER_MS);
			more = true;
		}
	}
	close_all(&w);
	buf_release(&w.text);
	return NULL;
}

void follower_start(struct sqlite_store *s)
{
	struct follower *f = &s->follower;

	f->path = xasprintf("%s" WORDS_SUFFIX, s->path);
	sem_init(&f->wake, 0, 0);
	f->started = pthread_create(&f->thread, NULL, follow, s) == 0;
}

void follower_stop(struct sqlite_store *s)
{
	struct follower *f = &s->follower;

	if (f->started) {
		atomic_store(&f->stop, true);
		sem_post(&f->wake);
		pthread_join(f->thread, NULL);
		f->started = false;
	}
	if (f->path)
		sem_destroy(&f->wake);
	free(f->path);
	f->path = NULL;
}

struct search_index sqlite_search_index(const struct store *base)
{
	const struct follower *f = &((const struct sqlite_store *)base)->follower;
	rid lacks = atomic_load(&f->lacks);

	return (struct search_index){atomic_load(&f->trouble), lacks ? id_time_ms(lacks) : 0};
}

void follower_notice(struct sqlite_store *s, bool has_new)
{
	struct follower *f = &s->follower;

	if (!f->started)
		return;
	atomic_fetch_add_explicit(&f->commits, 1, memory_order_relaxed);
	if (has_new && !atomic_load_explicit(&f->wanted, memory_order_relaxed) &&
	    !atomic_exchange(&f->wanted, true))
		sem_post(&f->wake);
}
