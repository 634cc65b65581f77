/* SPDX-License-Identifier: Apache-2.0 */
/* cron next, check, explain: when something runs, asked without a server. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/cron/cron_input.h"
#include "cli/frame/cmds.h"
#include "cli/output/output.h"
#include "cron/words/words.h"
#include "cron/zone/civil.h"

#define MATCHES_MAX 100000
#define CHECK_SHOWS 5

/* Parts of a second count up, so that "at or after" stays true. */
static int read_from(struct cli *c, int64_t *ret_time)
{
	const char *given = options_get(&c->options, "from");
	int64_t ms = clock_wall_ms();

	if (given && cron_time_parse(str_of(given), &ms, &c->problem) < 0)
		return c->problem.code;
	*ret_time = ms / 1000 + (ms % 1000 > 0);
	return 0;
}

static json_t *next_times(const struct cron_input *in, int64_t from, int64_t n)
{
	json_t *items = json_array();
	int64_t t = from;

	while (n-- > 0 && cron_items_next(&in->items, in->zone->zone, t, &t)) {
		json_array_append_new(items, cron_time_json(in->zone->zone, t));
		t++;
	}
	return items;
}

static void print_epochs(const struct cron_input *in, int64_t from, int64_t n)
{
	for (int64_t t = from; n-- > 0 && cron_items_next(&in->items, in->zone->zone, t, &t); t++)
		printf("%lld\n", (long long)t);
}

static void print_times(struct cli *c, const struct cron_input *in, const json_t *times)
{
	static const struct heading columns[] = {
	    {"LOCAL TIME", 0}, {"UTC", 0}, {"EPOCH", HEADING_RIGHT}};
	struct table t;
	json_t *time;
	size_t i;

	table_init(&t, columns, 3);
	json_array_foreach(times, i, time)
	{
		AUTO(buf_release) struct buf local = {0};
		int64_t at = ji(time, "epoch", 0);

		cron_local_words(in->zone->zone, at, &local);
		table_add(&t, local.p);
		table_addf(&t, "%.19sZ", js(time, "utc"));
		table_addf(&t, "%lld", (long long)at);
	}
	table_print(&t, c);
	table_release(&t);
}

int cmd_cron_next(struct cli *c)
{
	AUTO(cron_input_release) struct cron_input in = {0};
	AUTO(json_drop) json_t *times = NULL, *list = NULL;
	int64_t from = 0, n = 1;
	int r = options_i64(&c->options, "count", 1, MATCHES_MAX, &n, &c->problem);

	if (r < 0 || (r = read_from(c, &from)) < 0 || (r = cron_input_read(c, true, &in)) < 0)
		return r;
	if (c->format == FORMAT_EPOCH) {
		print_epochs(&in, from, n);
		return EXIT_OK;
	}
	times = next_times(&in, from, n);
	if (wants_machine(c)) {
		list = json_pack("{s:s,s:O}", "zone", in.zone_name, "items", times);
		print_json(c, list);
	} else if (json_array_size(times) > 0) {
		print_times(c, &in, times);
	} else {
		cli_note(c, "no further match");
	}
	return EXIT_OK;
}

static json_t *note_json(const struct cron_note *note, const struct cron_zone *z)
{
	AUTO(buf_release) struct buf text = {0};
	json_t *runs = json_array();
	char label[CRON_LOCAL_MAX];
	struct civil l = civil_from_seconds(note->label);

	cron_note_write(note, &text);
	for (size_t i = 0; i < note->n_fires; i++)
		json_array_append_new(runs, cron_time_json(z, note->fires[i]));
	snprintf(label, sizeof label, "%04d-%02d-%02dT%02d:%02d:%02d", l.year, l.month, l.day,
	    l.hour, l.minute, l.second);
	return json_pack("{s:s,s:s,s:o,s:s,s:I,s:o}", "text", text.p, "trick",
	    note->trick == CRON_GAP ? "gap" : "overlap", "at", cron_time_json(z, note->at), "label",
	    label, "labels", (json_int_t)note->n_labels, "runs", runs);
}

struct notes {
	const struct cron_zone *zone;
	json_t *items;
};

static void add_note(const struct cron_note *note, void *arg)
{
	struct notes *n = arg;

	json_array_append_new(n->items, note_json(note, n->zone));
}

static json_t *notes_of(const struct cron_input *in, int64_t year)
{
	struct notes n = {in->zone->zone, json_array()};

	cron_explain_year(&in->items, n.zone, (int32_t)year, add_note, &n);
	return n.items;
}

static void print_notes(const json_t *notes, const char *indent)
{
	json_t *note;
	size_t i;

	json_array_foreach(notes, i, note) printf("%s%s\n", indent, js(note, "text"));
	if (json_array_size(notes) == 0)
		printf("%sdaylight saving does not touch it\n", indent);
}

static int64_t this_year(const struct cron_zone *z)
{
	int64_t now = clock_wall_ms() / 1000;

	return civil_from_seconds(now + cron_zone_offset(z, now)).year;
}

int cmd_cron_explain(struct cli *c)
{
	AUTO(cron_input_release) struct cron_input in = {0};
	AUTO(json_drop) json_t *list = NULL;
	int64_t year;
	int r = cron_input_read(c, true, &in);

	if (r < 0)
		return r;
	year = this_year(in.zone->zone);
	r = options_i64(&c->options, "year", CRON_YEAR_MIN, CRON_YEAR_MAX, &year, &c->problem);
	if (r < 0)
		return r;
	list = json_pack("{s:I,s:s,s:o}", "year", (json_int_t)year, "zone", in.zone_name, "items",
	    notes_of(&in, year));
	if (wants_machine(c))
		print_json(c, list);
	else
		print_notes(json_object_get(list, "items"), "");
	return EXIT_OK;
}

static json_t *words_json(const struct cron_items *items, bool dst)
{
	json_t *words = json_array();

	for (size_t i = 0; i < items->n; i++) {
		AUTO(buf_release) struct buf text = {0};

		if (dst)
			cron_describe_dst(&items->items[i], &text);
		else
			cron_describe_item(&items->items[i], &text);
		json_array_append_new(words, json_stringn(text.p ? text.p : "", text.n));
	}
	return words;
}

/* "words" and so on, for check's two faces. */
static json_t *check_json(const struct cron_input *in, int64_t from)
{
	int64_t year = this_year(in->zone->zone);
	json_t *notes = notes_of(in, year), *later = notes_of(in, year + 1);

	json_array_extend(notes, later);
	json_decref(later);
	return json_pack("{s:o,s:o,s:b,s:s?,s:s?,s:o,s:o,s:o}", "words",
	    words_json(&in->items, false), "daylight_saving", words_json(&in->items, true),
	    "either_or", in->items.either_or, "note", cron_either_or_words(&in->items), "zone",
	    cron_items_use_zone(&in->items) ? in->zone_name : NULL, "item",
	    cron_items_tree(&in->items), "next", next_times(in, from, CHECK_SHOWS), "changes",
	    notes);
}

static void print_words(const struct cron_input *in, const json_t *check)
{
	const json_t *words = json_object_get(check, "words");
	const json_t *dst = json_object_get(check, "daylight_saving");

	if (in->items.either_or && in->items.n > 1)
		puts("Either of the two, as crontab means it when both day fields are given:");
	else if (in->items.either_or)
		printf("note: %s\n", cron_either_or_words(&in->items));
	for (size_t i = 0; i < json_array_size(words); i++) {
		const char *rule = json_string_value(json_array_get(dst, i));

		say(stdout, "%s%s", in->items.n > 1 ? "- " : "",
		    json_string_value(json_array_get(words, i)));
		if (*rule)
			printf("  daylight saving: %s\n", rule);
	}
}

int cmd_cron_check(struct cli *c)
{
	AUTO(cron_input_release) struct cron_input in = {0};
	AUTO(json_drop) json_t *check = NULL;
	AUTO(buf_release) struct buf text = {0};
	int64_t from = 0;
	int r = read_from(c, &from);

	if (r < 0 || (r = cron_input_read(c, true, &in)) < 0)
		return r;
	check = check_json(&in, from);
	if (wants_machine(c)) {
		print_json(c, check);
		return EXIT_OK;
	}
	print_words(&in, check);
	cron_items_write(&in.items, &text);
	say(stdout, "\nzone  %s\njson  %s\n", jhas(check, "zone") ? in.zone_name : "none needed",
	    text.p);
	if (json_array_size(json_object_get(check, "next")))
		print_times(c, &in, json_object_get(check, "next"));
	else
		puts("It does not run any more.");
	if (cron_items_use_zone(&in.items)) {
		puts("\nDaylight saving, this year and the next:");
		print_notes(json_object_get(check, "changes"), "  ");
	}
	return EXIT_OK;
}
