/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The write-ahead log must be moved into the database now and then, which costs writes and an
 * fsync. A thread does it beside the writer, who therefore does not wait. But a log that is being
 * appended to all the time is never wholly moved, hence never begun anew; so beyond a hard limit
 * the writer moves the rest itself: little is left then, and the next commit begins at the front.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/sqlite/sqlite.h"

#define SOFT_PAGES 2000  /* 8 MB: wake the thread */
#define HARD_PAGES 12000 /* 48 MB: the writer does it */

static int move_log(sqlite3 *db)
{
	return sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

/*
 * What could not be synced may be gone from the kernel's memory: tried again, it would seem to be
 * fine, and the log, which still has it, would be overwritten. A full or busy one is only late.
 */
static bool disk_failed(int rc)
{
	return (rc & 0xff) == SQLITE_IOERR;
}

/* The next commit says so, and the process ends. */
static void break_store(struct sqlite_store *s)
{
	pthread_mutex_lock(&s->mutex);
	s->broken = true;
	pthread_mutex_unlock(&s->mutex);
}

static void *checkpointer_main(void *arg)
{
	struct sqlite_store *s = arg;
	struct checkpointer *c = &s->checkpointer;

	pthread_mutex_lock(&c->mutex);
	while (!c->stop) {
		if (!c->wanted) {
			pthread_cond_wait(&c->wake, &c->mutex);
			continue;
		}
		c->wanted = false;
		pthread_mutex_unlock(&c->mutex);
		if (disk_failed(move_log(c->db)))
			break_store(s);
		pthread_mutex_lock(&c->mutex);
	}
	pthread_mutex_unlock(&c->mutex);
	return NULL;
}

static int count_pages(void *arg, sqlite3 *db, const char *name, int pages)
{
	struct sqlite_store *s = arg;

	s->log_pages = pages;
	return SQLITE_OK;
}

int checkpointer_start(struct sqlite_store *s, struct problem *ret_problem)
{
	struct checkpointer *c = &s->checkpointer;
	int rc = sqlite_connect(s->path, false, s->nosync, ROLE_CHECKPOINTER, &c->db, ret_problem);

	if (rc)
		return rc;
	sqlite3_wal_hook(s->db, count_pages, s);
	pthread_mutex_init(&c->mutex, NULL);
	pthread_cond_init(&c->wake, NULL);
	if (pthread_create(&c->thread, NULL, checkpointer_main, s) == 0) {
		c->started = true;
		return 0;
	}
	sqlite3_close(c->db);
	c->db = NULL;
	return problem_set(ret_problem, ERR_STORE, "no thread can be started for the store");
}

void checkpointer_stop(struct sqlite_store *s)
{
	struct checkpointer *c = &s->checkpointer;

	if (!c->started)
		return;
	pthread_mutex_lock(&c->mutex);
	c->stop = true;
	pthread_cond_signal(&c->wake);
	pthread_mutex_unlock(&c->mutex);
	pthread_join(c->thread, NULL);
	sqlite3_close(c->db);
	pthread_cond_destroy(&c->wake);
	pthread_mutex_destroy(&c->mutex);
	c->started = false;
}

/* Each attempt waits for some growth after the last, or a slow reader would make every commit try.
 */
void checkpoint_if_due(struct sqlite_store *s)
{
	struct checkpointer *c = &s->checkpointer;
	int grown;

	if (s->log_pages < c->tried_at)
		c->tried_at = 0; /* the log began anew */
	grown = s->log_pages - c->tried_at;
	if (s->log_pages >= HARD_PAGES && (c->tried_at < HARD_PAGES || grown >= SOFT_PAGES / 2)) {
		int rc = move_log(s->db);

		if (rc == SQLITE_OK)
			c->tried_at = s->log_pages;
		s->broken |= disk_failed(rc);
	} else if (grown >= SOFT_PAGES) {
		c->tried_at = s->log_pages;
		pthread_mutex_lock(&c->mutex);
		c->wanted = true;
		pthread_cond_signal(&c->wake);
		pthread_mutex_unlock(&c->mutex);
	}
}

/*
 * To sync after appending to a file costs about twice what it costs after writing over what is
 * there, because its new length must be durable too. So the log gets its usual length at once, in
 * zeros: SQLite takes them for the end of the log. Whatever fails here costs speed only.
 */
void log_lengthen(struct sqlite_store *s)
{
	static const char zeros[65536];
	AUTO(free_cstr) char *path = xasprintf("%s-wal", s->path);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0) {
		for (off_t at = st.st_size; at < SOFT_PAGES * 4200; at += sizeof zeros)
			if (pwrite(fd, zeros, sizeof zeros, at) != sizeof zeros)
				break;
		fdatasync(fd);
	}
	close(fd);
}
