/* SPDX-License-Identifier: Apache-2.0 */
/* Kept graphs over the interface: turns, clients that leave, memory that is let go, read again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/graphs/room.h"
#include "base/rng.h"
#include "world/world.h"

static struct world *w;

#define FILE_OF(packages) "{\"packages\":[" packages "]}"
#define A "{\"ident\":\"o/a/1/1\",\"runtime\":[\"o/b\"]}"
#define B "{\"ident\":\"o/b/1/1\"}"
#define LOOP "{\"ident\":\"o/b/2/1\",\"runtime\":[\"o/a\"]}"
#define PACKAGES "/v1/graphs/g/packages"

static size_t bytes_held(void)
{
	return graph_room_bytes(world_api(w)->graphs);
}

static void forget_memory(void)
{
	world_advance(w, 60000);
	assert_int_equal(bytes_held(), 0);
}

/* The packages' idents with spaces between. */
static void assert_packages(const char *idents)
{
	json_t *v = ask_json(w, API_GET, PACKAGES, NULL, 200), *one;
	AUTO(buf_release) struct buf b = {0};
	size_t i;

	json_array_foreach(json_object_get(v, "items"), i, one)
	{
		buf_printf(&b, "%s%s", i ? " " : "", jstr(one, "ident"));
	}
	assert_string_equal(b.n ? b.p : "", idents);
	json_decref(v);
}

static void test_let_go_and_read_again(void **state)
{
	json_decref(ask_json(w, API_PUT, PACKAGES, FILE_OF(A "," B), 201));
	assert_packages("o/a/1/1 o/b/1/1");
	assert_true(bytes_held() > 0);
	forget_memory();
	assert_packages("o/a/1/1 o/b/1/1");
	json_decref(ask_json(w, API_POST, PACKAGES, FILE_OF(LOOP), 409));
	assert_packages("o/a/1/1 o/b/1/1");
	forget_memory();
	json_decref(ask_json(w, API_POST, PACKAGES, FILE_OF(LOOP), 409));
	assert_packages("o/a/1/1 o/b/1/1");
}

/* At each step of the way: then it was done whole, or not at all, and the next one has its turn. */
static void test_clients_that_leave(void **state)
{
	for (int steps = 0; steps < 8; steps++) {
		struct talk *t, *next;
		json_t *g;

		json_decref(ask_json(w, API_PUT, PACKAGES, FILE_OF(A), 201));
		t = talk_new(API_POST, PACKAGES, FILE_OF(B));
		next = talk_new(API_POST, PACKAGES, FILE_OF("{\"ident\":\"o/c/1/1\"}"));
		talk_send(w, t);
		talk_send(w, next);
		for (int i = 0; i < steps; i++)
			world_commit_once(w);
		if (!t->status)
			talk_hang_up(t);
		world_run(w);
		assert_int_equal(next->status, 200);
		g = ask_json(w, API_GET, "/v1/graphs/g", NULL, 200);
		if (jint(g, "version") == 3)
			assert_packages("o/a/1/1 o/b/1/1 o/c/1/1");
		else
			assert_packages("o/a/1/1 o/c/1/1");
		forget_memory();
		assert_int_equal(jint(g, "packages"), jint(g, "version"));
		json_decref(g);
		talk_free(t);
		talk_free(next);
		json_decref(ask_json(w, API_DELETE, "/v1/graphs/g", NULL, 204));
	}
}

/* A client that waits for a graph that is removed meanwhile is told so. */
static void test_removed_while_others_wait(void **state)
{
	struct talk *one, *two, *gone;

	json_decref(ask_json(w, API_PUT, PACKAGES, FILE_OF(A), 201));
	one = talk_new(API_POST, PACKAGES, FILE_OF(B));
	two = talk_new(API_GET, PACKAGES, NULL);
	gone = talk_new(API_DELETE, "/v1/graphs/g", NULL);
	talk_send(w, one);
	talk_send(w, two);
	talk_send(w, gone);
	world_run(w);
	assert_int_equal(gone->status, 204);
	assert_true(one->status == 404 || one->status == 200);
	assert_int_equal(two->status, 404);
	talk_free(one);
	talk_free(two);
	talk_free(gone);
	json_decref(ask_json(w, API_GET, PACKAGES, NULL, 404));
}

/* A request that comes again is answered as before, whatever has been done since. */
static void test_once_by_its_key(void **state)
{
	json_decref(ask_json(w, API_PUT, PACKAGES, FILE_OF(A), 201));
	for (int i = 0; i < 3; i++) {
		struct talk *t = talk_new(API_POST, PACKAGES, FILE_OF(B));

		t->req.idempotency_key = STR("k");
		talk_send(w, t);
		world_run(w);
		assert_int_equal(t->status, 200);
		talk_free(t);
		if (i == 0)
			json_decref(
			    ask_json(w, API_PATCH, PACKAGES, "{\"remove\":[\"o/b\"]}", 200));
		assert_packages("o/a/1/1");
	}
}

/* What is in memory is what is read back, whatever is done. */
static void test_random_changes(void **state)
{
	struct rng rng = {3};
	char body[256];

	json_decref(ask_json(w, API_PUT, PACKAGES, FILE_OF(A), 201));
	for (int i = 0; i < 300; i++) {
		struct talk *t;
		json_t *warm, *cold;
		int x = (int)rng_below(&rng, 9), y = (int)rng_below(&rng, 9);

		if (rng_below(&rng, 4) == 0)
			snprintf(body, sizeof body, "{\"remove\":[\"o/p%d\"]}", x);
		else
			snprintf(body, sizeof body,
			    "{\"packages\":[{\"ident\":\"o/p%d/%d/1\",\"runtime\":[\"o/p%d\"],"
			    "\"build\":[\"o/p%d/2\"]}]}",
			    x, (int)rng_below(&rng, 5), y, x);
		t = ask(w, strstr(body, "remove") ? API_PATCH : API_POST, PACKAGES, body);
		assert_true(t->status == 200 || t->status == 404 || t->status == 409);
		talk_free(t);
		if (i % 10)
			continue;
		warm = ask_json(w, API_GET, PACKAGES, NULL, 200);
		forget_memory();
		cold = ask_json(w, API_GET, PACKAGES, NULL, 200);
		assert_true(json_equal(warm, cold));
		json_decref(warm);
		json_decref(cold);
	}
}

static int setup(void **state)
{
	w = world_new();
	world_open(w);
	return 0;
}

static int teardown(void **state)
{
	world_free(w);
	return 0;
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(test_let_go_and_read_again),
	    T(test_clients_that_leave),
	    T(test_removed_while_others_wait),
	    T(test_once_by_its_key),
	    T(test_random_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
