/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From one job's end to the next one's start: a chain through the plugin, which tells how long ago
 * it answered the job before. Both ends are one clock of one process.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "bench/cases/dag.h"

#define GAPS 1000 /* jobs, and the most that one page of them has */

static int gap_of(struct bench *b, const char *task, struct samples *to)
{
	AUTO(free_cstr) char *path = xasprintf("/v1/tasks/%s", task);
	json_t *row = NULL;
	const char *text;
	int r = http_call(b, "GET", path, NULL, &row);

	text = json_string_value(json_object_get(row, "stdout"));
	if (r == 0 && text && *text)
		samples_add(to, strtoll(text, NULL, 10));
	else if (r == 0)
		r = problem_set(&b->problem, ERR_INTERNAL, "job %s came back without a time", task);
	json_decref(row);
	return r;
}

/* All but the first, which follows nothing. */
static int gaps_of(struct bench *b, const char *group, struct samples *to)
{
	AUTO(free_cstr) char *path = xasprintf("/v1/groups/%s/jobs?limit=%d", group, GAPS);
	json_t *page = NULL;
	const json_t *items;
	int r = http_call(b, "GET", path, NULL, &page);

	items = json_object_get(page, "items");
	for (size_t i = 1; i < json_array_size(items) && r == 0 && !bench_interrupted(); i++) {
		const char *task =
		    json_string_value(json_object_get(json_array_get(items, i), "task"));

		r = gap_of(b, task ? task : "", to);
	}
	json_decref(page);
	return r;
}

int dag_gaps(struct bench *b, json_t *to)
{
	AUTO(buf_release) struct buf body = {0};
	struct samples s = {0};
	struct dag d;
	json_t *group = NULL;
	const char *id;
	int64_t before = 0;
	int r = queue_ended(b, "dag-noop", &before);

	dag_make(&d, DAG_CHAIN, (uint32_t)bench_scaled(b, GAPS, 50));
	if (d.n > GAPS)
		d.n = GAPS;
	dag_as_group(&d, "dag-noop", "\"params\":{\"gap\":1}", &body);
	buf_add_char(&body, 0);
	if (r == 0)
		r = http_call(b, "POST", "/v1/groups", body.p, &group);
	if (r == 0)
		r = queue_wait_ended(b, "dag-noop", before + d.n);
	id = json_string_value(json_object_get(group, "id"));
	if (r == 0)
		r = gaps_of(b, id ? id : "", &s);
	json_object_set_new(to, "end_to_start", samples_json(&s));
	json_decref(group);
	dag_release(&d);
	samples_release(&s);
	return r;
}
