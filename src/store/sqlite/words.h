/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index of words: which tasks have which, in a file of its own beside the database
 * (PATH.search). It is derived, and nothing depends on it: what is damaged, of another version or
 * in the way is thrown away and made anew, by a thread that follows the database (follow.c). Its
 * hits are only candidates, looked at in the database itself.
 */
#ifndef STORE_SQLITE_WORDS_H
#define STORE_SQLITE_WORDS_H

#include <semaphore.h>
#include <sqlite3.h>
#include <stdatomic.h>

#include "model/task/search.h"
#include "model/task/task.h"

/* A connection to it. One writes; readers have one each. */
struct words {
	sqlite3 *db;
	sqlite3_stmt *add;  /* to the newest shard */
	int64_t shard;      /* the newest shard's number; 0: there is none yet */
	int64_t shard_rows; /* in it */
	int64_t shard_limit;
};

#define WORDS_SUFFIX ".search"
/* A table each, dropped when none of its tasks is there any more. */
#define WORDS_SHARD_ROWS 100000

/* The writer's: makes it where it is not there, or not ours. `installation` and `last_id` say
 * which database it must be of. An error is one of SQLite's codes. */
struct words_of {
	struct str installation;
	rid last_id;
	int64_t shard_rows; /* of a full one; 0: WORDS_SHARD_ROWS */
};
int words_open(struct words *w, const char *path, const struct words_of *of);
/* Durable from here on, should the machine be switched off. */
void words_close(struct words *w);
void words_remove(const char *path);

/* Within a transaction: text as search_text() makes it; ids rise. */
int words_begin(struct words *w);
int words_add(struct words *w, rid id, struct str text);
int words_commit(struct words *w, rid done_to);
int words_done_to(sqlite3 *db, rid *ret_id); /* every task up to here is in it */

/* Shards of which no task is there any more: `is_gone` is asked of each range. */
typedef bool words_gone_fn(void *arg, rid first, rid last);
int words_drop_gone(struct words *w, words_gone_fn *is_gone, void *arg);

/* Readers: see it as of one moment. */
int words_connect(const char *path, sqlite3 **ret_db);
struct words_query {
	const struct search_words *search;
	rid low, high; /* ids in [low, high] */
	bool oldest_first;
	size_t limit;
};
int words_find(sqlite3 *db, const struct words_query *q, rid *ret_ids, size_t *ret_n);

/* follow.c: the thread. What it shares with others is atomic: it runs when nobody else wants to,
 * and must hold no lock that others need. */
struct follower {
	pthread_t thread;
	sem_t wake;
	char *path;
	bool started;
	atomic_bool stop, wanted, suspect;
	atomic_ulong commits;          /* by which it knows that others are busy; */
	atomic_bool writing;           /* one is being made, which may take long */
	atomic_ulong generation;       /* of the file; 0: there is none */
	_Atomic(const char *) trouble; /* why there is no index, in words; NULL: there is one */
	atomic_ullong lacks;           /* an id: tasks from it on are not in it yet; 0: all are */
};

struct sqlite_store;
struct store;
void follower_start(struct sqlite_store *s);
void follower_stop(struct sqlite_store *s);
struct search_index sqlite_search_index(const struct store *base);
/* After a commit; has_new: it has brought new ids. */
void follower_notice(struct sqlite_store *s, bool has_new);

#endif
