/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of groups and changes out of arbitrary bytes: what is taken can be told and drawn. */
#include <string.h>

#include "base/mem.h"
#include "cli/frame/cli.h"
#include "cli/group/live.h"

#define NOW 1800000000000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_live(const struct live *l)
{
	uint32_t n = 0;

	for (int s = 0; s <= JOB_GONE; s++)
		n += l->counts[s];
	MUST(n == l->n && live_ended(l) <= l->n);
	for (uint32_t j = 0; j < l->n; j++)
		MUST(l->parent[j] == NO_JOB || l->parent[j] < j);
}

static size_t lines_of(const struct buf *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++)
		n += b->p[i] == '\n';
	return n;
}

static void draw(const struct live *l, int width, size_t height)
{
	AUTO(forecast_release) struct forecast f = {0};
	AUTO(buf_release) struct buf tree = {0}, dot = {0};
	const struct term t = {.utf8 = width % 2};
	struct live_look look = {width % 3 == 0, height, 0};
	struct problem p;

	forecast_make(l, NOW, &f);
	MUST(f.left_ms >= 0 && f.n_path <= l->n && f.workers > 0);
	live_render(l, &f, &t, NOW, width, height, &look, &tree);
	MUST(height < 5 || lines_of(&tree) <= height);
	MUST(live_dot(l, &f, &dot, &p) == 0);
}

/* Two values: the graph, and a list of changes. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(json_drop) json_t *both = NULL;
	AUTO(live_release) struct live l = {0};
	struct problem p = {0};
	int rc;

	if (size < 2)
		return 0;
	both = json_loadb((const char *)data + 2, size - 2, 0, NULL);
	rc = live_load(json_array_get(both, 0), &l, &p);
	MUST(rc == 0 || (rc < 0 && p.what[0]));
	if (rc < 0)
		return 0;
	check_live(&l);
	draw(&l, data[0], data[1]);
	live_apply(&l, json_array_get(both, 1), NULL, NULL, &p);
	live_set_group(&l, json_array_get(both, 2));
	check_live(&l);
	draw(&l, data[1], data[0]);
	return 0;
}
