/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The auction as short stories: a line per worker and per piece of work, and who went where.
 * Amounts are of memory and disk: "w1 a 8 4" is a worker in zone a with 8 of memory, 4 of disk.
 */
#include "support.h"

#include "base/arena.h"
#include "base/mem.h"
#include "service/place/auction.h"

#define STORY_MAX 64

struct story {
	const char *name;
	const char
	    *workers; /* "NAME ZONE MEMORY DISK INSTANCES;…" and words: label=, tag=, silent */
	const char *holds; /* "WORKER SERVICE COUNT MEMORY STARTING;…"; service 9: a task */
	const char *work;  /* "SERVICE/INDEX MEMORY DISK;…"; tN: a task; label=, tag= */
	const char *went;  /* "0/0>w1 …" in the order of the decisions; "!" the sentence */
	struct place_config config;
};

#define HASHED .zones_are_hashed = true
#define EVEN .starting_weight = SCORE_ONE / 4

static const struct story stories[] = {
    {"one instance goes to the emptier worker", "w1 a 8 8 9;w2 a 8 8 9", "w1 9 1 4 0", "0/0 1 1",
        "0/0>w2", {EVEN}},
    {"equal workers: by name", "w1 a 8 8 9;w2 a 8 8 9", "", "0/0 1 1", "0/0>w1", {EVEN}},
    {"disk weighs as memory does", "w1 a 8 8 9;w2 a 8 4 9", "", "0/0 0 2", "0/0>w1", {EVEN}},
    {"instances of one service keep apart", "w1 a 9 9 9;w2 a 9 9 9;w3 a 9 9 9", "w3 9 2 4 0",
        "0/0 1 0;0/1 1 0;0/2 1 0", "0/0>w1 0/1>w2 0/2>w3", {EVEN}},
    {"and when each worker has one, the emptiest gets the second", "w1 a 9 9 9;w2 a 9 9 9",
        "w1 0 1 4 0;w2 0 1 1 0", "0/1 1 0", "0/1>w2", {EVEN}},
    {"zones come before load", "w1 a 8 8 9;w2 b 8 8 9", "w1 0 1 0 0;w2 9 2 3 0", "0/1 1 0",
        "0/1>w2", {EVEN}},
    {"but a full zone is left for another", "w1 a 8 8 9;w2 b 8 8 9", "w1 0 1 0 0;w2 9 1 8 0",
        "0/1 1 0", "0/1>w1", {EVEN}},
    {"three zones, six instances: two each", "w1 a 9 9 9;w2 b 9 9 9;w3 c 9 9 9;w4 c 9 9 9", "",
        "0/0 1 0;0/1 1 0;0/2 1 0;0/3 1 0;0/4 1 0;0/5 1 0",
        "0/0>w1 0/1>w2 0/2>w3 0/3>w4 0/4>w1 0/5>w2", {EVEN}},
    {"index 0 of all, then tasks, then index 1", "w1 a 99 99 99", "",
        "0/1 9 0;t0 5 0;1/0 1 0;0/0 9 0", "0/0>w1 1/0>w1 t0>w1 0/1>w1", {EVEN}},
    {"larger first inside a rank", "w1 a 99 99 99", "", "0/0 1 0;1/0 3 0;2/0 2 0;t1 1 0;t0 4 0",
        "1/0>w1 2/0>w1 0/0>w1 t0>w1 t1>w1", {EVEN}},
    {"a batch with no index above 0 has the same order", "w1 a 99 99 99", "", "t0 9 0;0/0 1 0",
        "0/0>w1 t0>w1", {EVEN}},
    {"what is starting weighs", "w1 a 100 100 99;w2 a 100 100 99", "w1 9 1 0 1;w2 9 1 20 0",
        "0/0 1 0", "0/0>w2", {EVEN}},
    {"unless its weight is nothing", "w1 a 100 100 99;w2 a 100 100 99", "w1 9 1 0 1;w2 9 1 20 0",
        "0/0 1 0", "0/0>w1", {.starting_weight = 0}},
    {"tasks keep apart from tasks", "w1 a 9 9 9;w2 a 9 9 9", "w1 9 1 0 0;w2 0 1 5 0", "t0 1 0",
        "t0>w2", {EVEN}},
    {"bin packing fills the first worker of a zone", "w1 a 9 9 9;w2 a 9 9 9", "",
        "0/0 1 0;1/0 1 0;2/0 1 0", "0/0>w1 1/0>w1 2/0>w1", {.bin_pack_weight = 5 * SCORE_ONE}},
    {"bin packing does not pack one service", "w1 a 9 9 9;w2 a 9 9 9", "", "0/0 1 0;0/1 1 0",
        "0/0>w1 0/1>w2", {.bin_pack_weight = 5 * SCORE_ONE}},
    {"a cap on starts", "w1 a 9 9 9", "w1 9 1 1 1", "0/0 1 0;1/0 1 0;2/0 1 0",
        "0/0>w1 1/0>w1 2/0>-", {.starts_max = 3}},
    {"never more than there is", "w1 a 4 4 9", "", "0/0 3 0;1/0 2 0;2/0 1 0",
        "0/0>w1 1/0>!insufficient resources: memory; memory: 2 B wanted, no worker has more free "
        "than 0 B; 4 B of 4 B reserved 2/0>w1",
        {EVEN}},
    {"no more instances than the worker takes", "w1 a 9 9 1", "", "0/0 0 0;1/0 0 0",
        "0/0>w1 1/0>!insufficient resources: instances; instances: 1 wanted, no worker has more "
        "free than 0; 1 of 1 reserved",
        {EVEN}},
    {"only shortages of every worker are told", "w1 a 1 9 9;w2 a 9 1 9", "", "0/0 2 2",
        "0/0>!insufficient resources", {EVEN}},
    {"too large for any", "w1 a 4 4 9", "", "0/0 5 0",
        "0/0>!insufficient resources: memory; memory: 5 B wanted, no worker offers more than 4 B; "
        "0 B of 4 B reserved",
        {EVEN}},
    {"no worker at all", "", "", "0/0 1 0", "0/0>!there is no worker", {EVEN}},
    {"the label that nobody has", "w1 a 9 9 9 label=ssd;w2 a 9 9 9", "",
        "0/0 1 0 label=ssd;1/0 1 0 label=gpu", "0/0>w1 1/0>!no worker with label gpu", {EVEN}},
    {"labels that nobody has together", "w1 a 9 9 9 label=ssd;w2 a 9 9 9 label=gpu", "",
        "0/0 1 0 label=gpu label=ssd", "0/0>!no worker with all of the labels gpu, ssd", {EVEN}},
    {"a worker with a tag takes only work that has it", "w1 a 9 9 9 tag=edge;w2 a 9 9 9",
        "w2 9 1 8 0", "0/0 1 0;1/0 1 0 tag=edge", "0/0>w2 1/0>w1", {EVEN}},
    {"kept for others", "w1 a 9 9 9 tag=edge", "", "0/0 1 0",
        "0/0>!every worker that would do is kept for work with a placement tag, and this has none",
        {EVEN}},
    {"a tag that nobody knows", "w1 a 9 9 9", "", "0/0 1 0 tag=edge",
        "0/0>!no worker with placement tag edge", {EVEN}},
    {"silent workers", "w1 a 9 9 9 silent", "", "0/0 1 0",
        "0/0>!unable to communicate with any worker that would do", {EVEN}},
    {"drained workers", "w1 a 9 9 9 silent;w2 a 9 9 9 draining", "", "0/0 1 0",
        "0/0>!every worker that would do is being drained", {EVEN}},
    {"hashed zones: one after the other", "w1 a 9 9 9;w2 b 9 9 9;w3 c 9 9 9", "",
        "0/0 1 0;0/1 1 0;0/2 1 0;0/3 1 0", "0/0>w2 0/1>w3 0/2>w1 0/3>w2", {EVEN, HASHED}},
    {"hashed zones: index 1 may go elsewhere, index 2 not", "w1 a 9 9 9;w2 b 9 9 9;w3 c 9 9 9",
        "w3 9 1 9 0;w1 9 1 9 0", "0/0 1 0;0/1 1 0;0/2 1 0",
        "0/0>w2 0/1>w2 0/2>!insufficient resources: memory in zone a, where it must be; memory: 1 "
        "B wanted, no worker has more free than 0 B; 9 B of 9 B reserved",
        {EVEN, HASHED}},
    {"no shortage of what is not wanted, however much is overcommitted", "w1 a 2 9 9", "w1 9 1 5 0",
        "0/0 0 1", "0/0>w1", {EVEN}},
};

static const struct str service_names[] = {{"web", 3}, {"api", 3}, {"db", 2}, {"s3", 2}, {"s4", 2},
    {"s5", 2}, {"s6", 2}, {"s7", 2}, {"s8", 2}};

static bool next_words(struct str *rest, struct str words[8], size_t *n)
{
	struct str one;

	*n = 0;
	if (rest->n == 0 || !str_next(rest, ';', &one))
		return false;
	while (one.n && str_next(&one, ' ', &words[*n]))
		(*n)++;
	return true;
}

static int64_t number(struct str s)
{
	int64_t n = -1;

	assert_true(str_to_i64(s, 0, 1000000, &n));
	return n;
}

static struct str after_equals(struct str s, struct arena *arena)
{
	struct str key;

	str_next(&s, '=', &key);
	return arena_strf(arena, STR_FMT "\n", STR_ARG(s));
}

static void add_line(struct str *lines, struct str more, struct arena *arena)
{
	*lines = arena_strf(arena, STR_FMT STR_FMT, STR_ARG(*lines), STR_ARG(more));
}

static uint32_t workers_of(const struct story *s, struct place_worker *ws, struct arena *arena)
{
	struct str rest = str_of(s->workers), words[8];
	uint32_t n = 0;

	for (size_t k; next_words(&rest, words, &k); n++) {
		struct place_worker *w = &ws[n];

		*w = (struct place_worker){.name = words[0], .zone = words[1]};
		w->total[PLACE_MEMORY] = number(words[2]);
		w->total[PLACE_DISK] = number(words[3]);
		w->total[PLACE_INSTANCES] = number(words[4]);
		memset(w->used, -1, sizeof w->used);
		for (size_t i = 5; i < k; i++) {
			if (str_starts(words[i], "label="))
				add_line(&w->labels, after_equals(words[i], arena), arena);
			else if (str_starts(words[i], "tag="))
				add_line(&w->tags, after_equals(words[i], arena), arena);
			else
				w->state =
				    str_is(words[i], "silent") ? PLACE_SILENT : PLACE_DRAINING;
		}
	}
	return n;
}

static uint32_t worker_named(const struct auction *a, struct str name)
{
	for (uint32_t i = 0; i < auction_workers(a); i++)
		if (str_eq(auction_worker(a, i)->name, name))
			return i;
	fail_msg("no worker " STR_FMT, STR_ARG(name));
	return 0;
}

static void hold_all(struct auction *a, const struct story *s)
{
	struct str rest = str_of(s->holds), words[8];

	for (size_t k; next_words(&rest, words, &k);) {
		int64_t amount[N_PLACE_RESOURCES] = {[PLACE_MEMORY] = number(words[3])};
		uint32_t service = (uint32_t)number(words[1]);

		auction_hold(a, worker_named(a, words[0]), service == 9 ? NO_SERVICE : service,
		    auction_shape(a, amount, &(struct place_want){0}), (uint32_t)number(words[2]),
		    (uint32_t)number(words[4]));
	}
}

static uint32_t work_of(
    struct auction *a, const struct story *s, struct place_work *work, struct arena *arena)
{
	struct str rest = str_of(s->work), words[8], name;
	uint32_t n = 0;

	for (size_t k; next_words(&rest, words, &k); n++) {
		int64_t amount[N_PLACE_RESOURCES] = {number(words[1]), number(words[2])};
		struct place_want want = {0};
		bool is_task = words[0].p[0] == 't';

		for (size_t i = 3; i < k; i++)
			add_line(str_starts(words[i], "label=") ? &want.labels : &want.tags,
			    after_equals(words[i], arena), arena);
		str_next(&words[0], is_task ? 't' : '/', &name);
		work[n].service = is_task ? NO_SERVICE : (uint32_t)number(name);
		work[n].index = (uint32_t)number(words[0]);
		work[n].shape = auction_shape(a, amount, &want);
	}
	return n;
}

static void tell(struct buf *out, const struct auction *a, const struct place_work *w,
    const struct place_result *r)
{
	struct place_error e;

	if (out->n)
		buf_add_char(out, ' ');
	if (w->service == NO_SERVICE)
		buf_printf(out, "t%u>", w->index);
	else
		buf_printf(out, "%u/%u>", w->service, w->index);
	if (r->worker != NO_WORKER) {
		buf_add_str(out, auction_worker(a, r->worker)->name);
	} else if (r->code == PLACE_STARTS) {
		buf_add_char(out, '-');
	} else {
		buf_add_char(out, '!');
		auction_explain(a, w->shape, r->zone_must, &e, out);
		assert_int_not_equal(e.code, PLACE_OK);
	}
}

static void test_stories(void **state)
{
	for (size_t i = 0; i < N_OF(stories); i++) {
		struct place_worker workers[STORY_MAX];
		struct place_work work[STORY_MAX];
		struct place_result results[STORY_MAX];
		uint32_t order[STORY_MAX], n;
		struct arena arena = {0};
		struct buf went = {0};
		struct auction *a;

		n = workers_of(&stories[i], workers, &arena);
		a = auction_new(&stories[i].config, workers, n, service_names, 9);
		hold_all(a, &stories[i]);
		n = work_of(a, &stories[i], work, &arena);
		auction_run(a, work, n, results, order);
		for (uint32_t k = 0; k < n; k++)
			tell(&went, a, &work[order[k]], &results[order[k]]);
		if (strcmp(went.p, stories[i].went) != 0)
			fail_msg("%s:\n%s\nnot\n%s", stories[i].name, went.p, stories[i].went);
		buf_release(&went);
		arena_release(&arena);
		auction_free(a);
	}
}

/* What is given back can be had again; what has started weighs no more. */
static void test_given_back(void **state)
{
	struct place_worker w = {.name = STR("w"), .zone = STR("a"), .total = {4, 4, 0, 9}};
	struct place_config config = {.starting_weight = SCORE_ONE / 4};
	struct auction *a = auction_new(&config, &w, 1, service_names, 9);
	int64_t amount[N_PLACE_RESOURCES] = {3};
	uint32_t shape = auction_shape(a, amount, &(struct place_want){0}), order[1];
	struct place_work work = {.service = 0, .index = 0, .shape = shape};
	struct place_result r;

	auction_run(a, &work, 1, &r, order);
	assert_int_equal(r.worker, 0);
	assert_int_equal(auction_starting(a), 1);
	work.index = 1;
	auction_run(a, &work, 1, &r, order);
	assert_int_equal(r.worker, NO_WORKER);
	auction_started(a, 0);
	assert_int_equal(auction_starting(a), 0);
	auction_drop(a, 0, 0, shape, false);
	auction_run(a, &work, 1, &r, order);
	assert_int_equal(r.worker, 0);
	assert_int_equal(r.colocated, 0);
	auction_drop(a, 0, 0, shape, true);
	assert_int_equal(auction_worker(a, 0)->reserved[PLACE_MEMORY], 0);
	assert_int_equal(auction_worker(a, 0)->starting, 0);
	auction_free(a);
}

/* More different wants than have trees at a time. */
static void test_many_wants(void **state)
{
	enum { N = 1100 };
	static struct place_worker workers[N];
	static struct place_work work[2 * N];
	static struct place_result results[2 * N];
	static uint32_t order[2 * N];
	struct arena arena = {0};
	struct auction *a;

	for (int i = 0; i < N; i++) {
		workers[i].name = arena_strf(&arena, "w%04d", i);
		workers[i].labels = arena_strf(&arena, "n=%d\n", i);
		workers[i].zone = STR("a");
		workers[i].total[PLACE_INSTANCES] = 9;
	}
	a = auction_new(&place_config_default, workers, N, service_names, 9);
	for (uint32_t i = 0; i < 2 * N; i++) {
		struct place_want want = {.labels = workers[i % N].labels};
		int64_t none[N_PLACE_RESOURCES] = {0};

		work[i] = (struct place_work){0, i, auction_shape(a, none, &want)};
	}
	auction_run(a, work, 2 * N, results, order);
	for (uint32_t i = 0; i < 2 * N; i++) {
		assert_int_equal(results[i].worker, i % N);
		assert_int_equal(results[i].colocated, i / N);
	}
	auction_free(a);
	arena_release(&arena);
}

/* Trees that are too large together: some are built again, and know what happened meanwhile. */
static void test_large_wants(void **state)
{
	enum { N = 520, WANTS = 260 };
	static struct place_worker workers[N];
	static struct place_work work[N];
	static struct place_result results[N];
	static uint32_t order[N];
	struct arena arena = {0};
	struct buf labels = {0};
	struct auction *a;

	for (int i = 0; i < WANTS; i++)
		buf_printf(&labels, "l%03d\n", i);
	for (int i = 0; i < N; i++) {
		workers[i].name = arena_strf(&arena, "w%04d", i);
		workers[i].labels = buf_str(&labels);
		workers[i].total[PLACE_INSTANCES] = 9;
	}
	a = auction_new(&place_config_default, workers, N, service_names, 9);
	for (uint32_t i = 0; i < N; i++) {
		struct place_want want = {.labels = arena_strf(&arena, "l%03u\n", i % WANTS)};
		int64_t none[N_PLACE_RESOURCES] = {0};

		work[i] = (struct place_work){NO_SERVICE, i, auction_shape(a, none, &want)};
	}
	auction_run(a, work, N, results, order);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(auction_worker(a, i)->tasks, 1);
	auction_free(a);
	buf_release(&labels);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_stories),
	    cmocka_unit_test(test_given_back),
	    cmocka_unit_test(test_many_wants),
	    cmocka_unit_test(test_large_wants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
