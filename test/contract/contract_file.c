/* SPDX-License-Identifier: Apache-2.0 */
#include "contract_file.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

int setup(void **state)
{
	struct ctx *c = xcalloc(1, sizeof *c);

	ctx_open(c, "sqlite");
	*state = c;
	return 0;
}

int teardown(void **state)
{
	ctx_close(*state);
	free(*state);
	return 0;
}

void shut(struct ctx *c)
{
	store_reader_close(c->r);
	store_close(c->s);
	c->r = NULL;
	c->s = NULL;
}

int try_open(struct ctx *c, struct problem *ret_problem)
{
	struct store_options o = {.create = true, .migrate = true};

	return store_open(c->url, &o, &c->s, ret_problem);
}

void assert_says(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" does not say \"%s\"", text, part);
}

void sql(struct ctx *c, const char *text)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(ctx_path(c), &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

void fill(struct ctx *c, rid from, int n)
{
	char *body = arena_alloc(&c->a, 1500);

	memset(body, 'z', 1500);
	for (int i = 0; i < n; i++) {
		struct task_row *t = task_new(c, from + (rid)i, 5, i % 3 ? TASK_QUEUED : 1);

		t->spec.body = (struct str){body, 1500};
		add_insert(c, t);
	}
}
