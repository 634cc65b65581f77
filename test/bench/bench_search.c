/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a search over many tasks takes, how long the index of words takes to be made, and how
 * large it is.
 *
 *   bench_search DIRECTORY [TASKS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "store/store.h"

#define BATCH 5000
#define QUEUE 77
#define BASE_ID ((rid)0x65000000 << 24)
#define TRIES 9

static int64_t n_tasks = 1000000;

static void die(const struct problem *p)
{
	fprintf(stderr, "bench_search: %s (%s)\n", p->what, p->hint);
	exit(1);
}

static struct str body_of(struct arena *a, int64_t i)
{
	static const char *const tools[] = {"convert", "render", "backup", "index", "report"};

	return arena_strf(a,
	    "{\"command\":[\"/usr/bin/%s\",\"--input\",\"/data/file-%lld.mp4\",\"--parity\","
	    "\"%s\"],\"params\":{\"customer\":\"c%lld\",\"region\":\"eu-west-%lld\"}}",
	    tools[i % 5], (long long)i, i % 2 ? "odd" : "even", (long long)(i % 1000),
	    (long long)(i % 7));
}

static void fill(struct store *s)
{
	struct problem p = {0};
	struct batch b = {0};

	for (int64_t i = 0; i < n_tasks;) {
		batch_reset(&b, (uint64_t)i + 1);
		for (int k = 0; k < BATCH && i < n_tasks; k++, i++) {
			struct task_row *t = arena_zalloc(&b.arena, sizeof *t);

			t->id = BASE_ID + (rid)i;
			t->spec.queue = QUEUE;
			t->state.status = TASK_SUCCEEDED;
			t->spec.body = body_of(&b.arena, i);
			batch_insert(&b, &task_table, t);
		}
		if (store_commit(s, &b, &p))
			die(&p);
	}
	batch_release(&b);
}

/* One page of a hundred, as the interface asks for it; then all pages. */
static void search(struct store_reader *r, const char *words)
{
	int64_t first_us = INT64_MAX, all_us, begun;
	AUTO(arena_release) struct arena a = {0};
	struct task_filter f = {0};
	struct task_page page = {0};
	struct problem p = {0};
	size_t n = 0, calls = 0;

	if (search_parse(&a, str_of(words), &f.search, &p))
		die(&p);
	for (int i = 0; i < TRIES; i++) {
		begun = clock_mono_us();
		MUST(store_task_list(r, &f, false, true, 0, 100, &a, &page) == 0);
		if (clock_mono_us() - begun < first_us)
			first_us = clock_mono_us() - begun;
	}
	begun = clock_mono_us();
	for (rid at = 0; calls == 0 || (at && n < 10000); calls++) {
		MUST(store_task_list(r, &f, false, true, at, 1000, &a, &page) == 0);
		n += page.n;
		at = page.next;
	}
	all_us = clock_mono_us() - begun;
	printf(
	    "%-28s %9.2f ms to a page of 100, %9.2f ms to all (at most 10,000): %zu in %zu pages\n",
	    words, (double)first_us / 1000, (double)all_us / 1000, n, calls);
}

static bool is_indexed(struct store_reader *r)
{
	AUTO(arena_release) struct arena a = {0};
	struct task_filter f = {0};
	struct task_page page;
	struct problem p = {0};

	/* a word that no task has is answered in one call when all are in the index */
	MUST(search_parse(&a, STR("nosuchword"), &f.search, &p) == 0);
	MUST(store_task_list(r, &f, false, true, 0, 100, &a, &page) == 0);
	return page.next == 0;
}

int main(int argc, char **argv)
{
	const struct store_options o = {.create = true, .migrate = true, .search = true};
	static const char *const queries[] = {"nosuchword", "999999", "convert 123456", "c77",
	    "c77 render", "odd convert", "odd even", "even backup c0", "file mp4", "regio* eu",
	    "1234*", "convert render"};
	struct problem p = {0};
	struct store_reader *r;
	struct store *s;
	struct stat st;
	int64_t begun;
	char *url, *file;

	if (argc < 2) {
		fprintf(stderr, "usage: bench_search DIRECTORY [TASKS]\n");
		return 2;
	}
	if (argc > 2)
		n_tasks = atoll(argv[2]);
	url = xasprintf("sqlite:%s/bench.db", argv[1]);
	file = xasprintf("%s/bench.db.search", argv[1]);
	if (store_open(url, &o, &s, &p) || !(r = store_reader_open(s, &p)))
		die(&p);
	begun = clock_mono_us();
	fill(s);
	printf("%lld tasks written in %.1f s\n", (long long)n_tasks,
	    (double)(clock_mono_us() - begun) / 1e6);
	begun = clock_mono_us();
	while (!is_indexed(r))
		usleep(200000);
	printf("the index had them %.1f s later, and has %.1f MB\n",
	    (double)(clock_mono_us() - begun) / 1e6,
	    stat(file, &st) ? 0 : (double)st.st_size / 1e6);
	for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++)
		search(r, queries[i]);
	store_reader_close(r);
	store_close(s);
	free(url);
	free(file);
	return 0;
}
