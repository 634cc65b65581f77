/* SPDX-License-Identifier: Apache-2.0 */
/* Kept graphs as objects: versions, whole changes, what is written of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../world/world.h"
#include "base/mem.h"
#include "core/graph/view.h"

#define NAME "core"

struct story {
	struct world *w;
	struct arena arena; /* of the parts: given away */
	struct object_parts parts;
};

static void begin(struct story *s)
{
	*s = (struct story){.w = world_new(NULL)};
	s->w->hold = true;
}

static void end(struct story *s)
{
	arena_release(&s->arena);
	world_free(s->w);
}

/* So many packages, in places 0, 1 … */
static struct object_parts *parts_of(struct story *s, size_t n, bool all)
{
	struct graph_package_row *rows = arena_zalloc(&s->arena, n * sizeof *rows);

	for (size_t i = 0; i < n; i++) {
		rows[i].number = (int64_t)i;
		rows[i].ident = arena_strf(&s->arena, "o/p%zu/1/1", i);
	}
	s->parts = (struct object_parts){all, rows, n, &s->arena};
	return &s->parts;
}

static const struct reply *create(struct story *s, size_t n)
{
	struct graph_row row = {.name = STR(NAME), .n_packages = (int64_t)n};
	struct event ev = {.kind = EV_CREATE, .ticket = ++s->w->last_ticket, .actor = STR("ann")};

	ev.object.kind = KIND_GRAPH;
	ev.object.row = &row;
	ev.object.parts = parts_of(s, n, false);
	world_step(s->w, &ev);
	return &s->w->fx.replies[s->w->fx.n_replies - 1];
}

static const struct reply *change(struct story *s, rid graph, int64_t version, size_t n, bool all)
{
	struct graph_row row = {.n_packages = (int64_t)n, .n_deps = 9, .n_unbuildable = 1};
	struct event ev = {.kind = EV_DO, .ticket = ++s->w->last_ticket, .actor = STR("bob")};

	ev.object.kind = KIND_GRAPH;
	ev.object.id = graph;
	ev.object.row = &row;
	ev.object.verb = GRAPH_CHANGE;
	ev.object.if_version = version;
	ev.object.parts = parts_of(s, n, all);
	world_step(s->w, &ev);
	return &s->w->fx.replies[s->w->fx.n_replies - 1];
}

static size_t count_rows(const struct story *s, const struct row_table *t, enum row_verb verb)
{
	const struct batch *b = &s->w->fx.batch;
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++)
		n += b->rows[i].table == t && b->rows[i].verb == verb;
	return n;
}

static void test_made_whole(void **state)
{
	struct story s;
	const struct graph_row *g;
	rid id;

	begin(&s);
	id = create(&s, 3)->id;
	g = core_graph(s.w->core, id);
	assert_true(g && str_is(g->name, NAME));
	assert_int_equal(g->version, 1);
	assert_int_equal(g->n_packages, 3);
	assert_true(str_is(g->actor, "ann"));
	/* one batch has the graph, its packages and the event */
	assert_int_equal(count_rows(&s, &graph_table, ROW_PUT), 1);
	assert_int_equal(count_rows(&s, &graph_package_table, ROW_PUT), 3);
	assert_int_equal(count_rows(&s, &event_table, ROW_PUT), 1);
	assert_null(s.arena.blocks); /* given away */
	assert_int_equal(create(&s, 1)->code, ERR_CONFLICT);
	assert_int_equal(count_rows(&s, &graph_package_table, ROW_PUT), 3);
	end(&s);
}

static void test_changed_from_a_version(void **state)
{
	struct story s;
	const struct graph_row *g;
	rid id;

	begin(&s);
	id = create(&s, 3)->id;
	world_commit(s.w);
	assert_int_equal(change(&s, id, 1, 2, false)->code, 0);
	g = core_graph(s.w->core, id);
	assert_int_equal(g->version, 2);
	assert_int_equal(g->n_packages, 2);
	assert_int_equal(g->n_deps, 9);
	assert_int_equal(g->n_unbuildable, 1);
	assert_true(str_is(g->actor, "bob") && str_is(g->name, NAME));
	assert_int_equal(core_find(s.w->core, KIND_GRAPH, STR(NAME)), id);
	assert_int_equal(count_rows(&s, &graph_package_table, ROW_PUT), 2);
	world_commit(s.w);
	/* made from what was there before: nothing of it is taken */
	assert_int_equal(change(&s, id, 1, 5, false)->code, ERR_PRECONDITION);
	assert_int_equal(core_graph(s.w->core, id)->version, 2);
	assert_int_equal(s.w->fx.batch.n, 0);
	assert_non_null(s.arena.blocks); /* not given away */
	end(&s);
}

static void test_replaced_and_removed(void **state)
{
	struct story s;
	struct event ev = {.kind = EV_DELETE};
	const struct batch *b;
	rid id;

	begin(&s);
	id = create(&s, 3)->id;
	world_commit(s.w);
	assert_int_equal(change(&s, id, 1, 2, true)->code, 0);
	b = &s.w->fx.batch;
	assert_int_equal(b->rows[1].verb, ROW_TRIM); /* before the first that comes */
	assert_true(b->rows[1].table == &graph_package_table && b->rows[1].below == INT64_MAX);
	assert_int_equal(((struct graph_package_row *)b->rows[2].row)->graph, id);
	world_commit(s.w);
	ev.object.kind = KIND_GRAPH;
	ev.object.id = id;
	world_step(s.w, &ev);
	assert_int_equal(count_rows(&s, &graph_table, ROW_DELETE), 1);
	assert_null(core_graph(s.w->core, id));
	assert_int_equal(change(&s, id, 2, 1, false)->code, ERR_NOT_FOUND);
	end(&s);
}

/* A request that comes again waits for the store first, and then gets the first one's answer. */
static void test_once_by_its_key(void **state)
{
	struct story s;
	struct graph_row row = {.name = STR(NAME), .n_packages = 2};
	rid first = 0;

	begin(&s);
	s.w->hold = false;
	for (int i = 0; i < 2; i++) {
		struct event ev = {.kind = EV_CREATE, .ticket = ++s.w->last_ticket};

		ev.idem_key = STR("k");
		ev.object.kind = KIND_GRAPH;
		ev.object.row = &row;
		ev.object.parts = parts_of(&s, 2, false);
		world_step(s.w, &ev);
		assert_int_equal(world_reply(s.w)->code, 0);
		assert_true(i == 0 || world_reply(s.w)->id == first);
		first = world_reply(s.w)->id;
		assert_null(s.arena.blocks);
	}
	assert_int_equal(core_count(s.w->core, KIND_GRAPH), 1);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_made_whole),
	    cmocka_unit_test(test_changed_from_a_version),
	    cmocka_unit_test(test_replaced_and_removed),
	    cmocka_unit_test(test_once_by_its_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
