/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/stream.h"

#include <stdio.h>

#include "base/mem.h"

/* Sequences of one item each, one behind the other, are one sequence. */
static void add_yaml(struct stream *s, json_t *item)
{
	AUTO(json_drop) json_t *alone = json_array();

	json_array_append(alone, item);
	if (s->n == 0)
		puts("items:");
	yaml_print(stdout, alone);
}

static void add_item(struct stream *s, json_t *item)
{
	switch (s->c->format) {
	case FORMAT_YAML: add_yaml(s, item); break;
	case FORMAT_JSONL: print_json_line(item); break;
	default: fputs(s->n == 0 ? "{\n  \"items\": [\n" : ",\n", stdout); print_json_item(item);
	}
	s->n++;
}

void stream_json(struct stream *s, json_t *items)
{
	json_t *item;
	size_t i;

	json_array_foreach(items, i, item) add_item(s, item);
}

void stream_json_end(struct stream *s, const char *next)
{
	AUTO(json_drop) json_t *end = json_pack("{s:s?}", "next", next);
	AUTO(free_cstr) char *text = json_dumps(json_object_get(end, "next"), JSON_ENCODE_ANY);

	if (s->c->format == FORMAT_JSONL)
		return;
	if (s->c->format == FORMAT_YAML) {
		if (s->n == 0)
			puts("items: []");
		yaml_print(stdout, end);
		return;
	}
	fputs(s->n == 0 ? "{\n  \"items\": [],\n" : "\n  ],\n", stdout);
	printf("  \"next\": %s\n}\n", text);
}

void stream_rows(
    struct stream *s, const struct heading *columns, size_t n_columns, const json_t *items)
{
	struct table t;

	s->n += json_array_size(items);
	if (json_array_size(items) == 0)
		return;
	table_init(&t, columns, n_columns);
	table_fill(&t, s->c, items);
	table_print_page(&t, s->c, &s->layout);
	table_release(&t);
}

bool stream_flush(struct stream *s)
{
	return fflush(stdout) == 0 && !ferror(stdout);
}
