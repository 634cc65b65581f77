/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rows say of each other, for a check of all of them. The store's numbers and all objects come
 * before tasks, tasks before their output, objects before their parts.
 */
#ifndef STORE_SQL_AGREE_H
#define STORE_SQL_AGREE_H

#include "base/data/idmap.h"
#include "store/sql/read.h"

struct agree {
	struct sql_reader *reader; /* another than the one whose rows are looked at */
	void (*tell)(void *arg, const char *table, rid id, const char *what); /* id 0: the table */
	void *arg;
	rid last_id;                  /* up to there tasks were counted; 0: not known */
	int64_t n_counted;            /* that many */
	struct idmap there[N_TABLES]; /* which objects there are */
	bool is_read[N_TABLES];       /* all of them */
	struct idmap told;            /* what is gone is named once */
	int64_t n_tasks;              /* of those that its numbers count */
	struct sql_query find_task;   /* made once: it is asked for each row of output */
};

void agree_release(struct agree *g);
void agree_row(struct agree *g, const struct row_table *t, unsigned damage, const void *row);
void agree_table_end(struct agree *g, const struct row_table *t); /* all of it was read */

#endif
