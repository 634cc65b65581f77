/* SPDX-License-Identifier: Apache-2.0 */
/* events: the durable ones as a list, or the live stream, over broken connections. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/frame/cmds.h"
#include "cli/frame/interrupt.h"
#include "cli/output/stream.h"
#include "cli/reach/last.h"
#include "cli/reach/sse.h"
#include "cli/reach/target.h"
#include "cli/tasks/work.h"

#define LIST_DEFAULT 100
#define PAGE 1000
#define PATIENCE_MS 60000

struct watch {
	struct cli *c;
	struct sse sse;
	int64_t left; /* events still wanted; -1: no end */
	bool gap;     /* the server announced one: what is durable of it is listed, then on */
	int64_t gap_after, gap_to;
};

/* Of a batch's id nothing would ever come. */
static int one_task(struct cli *c, const char *typed, char ret_id[25])
{
	AUTO(json_drop) json_t *batch = NULL;

	if (task_id_of(c, typed, ret_id) < 0)
		return c->problem.code;
	if (batch_get(c, ret_id, &batch) == 0 && !jb(batch, "id_is_task")) {
		problem_set(
		    &c->problem, ERR_INVALID, "%s is the id of a batch, not of a task", ret_id);
		return problem_hint(&c->problem,
		    "--batch %s shows what happens to its tasks; the batch itself: reeve batch "
		    "show %s",
		    ret_id, ret_id);
	}
	c->problem = (struct problem){0};
	return 0;
}

static int events_url(struct cli *c, struct buf *url)
{
	const char *value;
	char id[25];
	size_t at = 0;

	buf_add_cstr(url, "/v1/events");
	while ((value = options_next(&c->options, "kind", &at)))
		url_add(url, "kind", value);
	for (size_t i = 0; filter_objects[i]; i++)
		if ((value = options_get(&c->options, filter_objects[i])))
			url_add(url, filter_objects[i], value);
	if ((value = options_get(&c->options, "task"))) {
		if (one_task(c, value, id) < 0)
			return c->problem.code;
		url_add(url, "task", id);
	}
	if ((value = options_get(&c->options, "group"))) {
		if (group_id_of(c, value, id) < 0)
			return c->problem.code;
		url_add(url, "group", id);
	}
	if ((value = options_get(&c->options, "batch"))) {
		if (batch_find(c, value, id) < 0)
			return c->problem.code;
		url_add(url, "batch", id);
	}
	return 0;
}

static const char *event_state(const char *kind)
{
	const char *dot = strchr(kind, '.');

	return dot ? dot + 1 : kind;
}

/* The time of the day, and the day when it is another one; all of it where that is asked for. */
static void add_time(const struct cli *c, const json_t *event, struct buf *out)
{
	const char *time = js(event, "time");
	char today[TIME_TEXT_MAX];

	time_format_ms(clock_wall_ms(), today);
	if (strlen(time) < 19 || c->format == FORMAT_WIDE) {
		text_add_clean(out, str_of(time));
		return;
	}
	if (strncmp(time, today, 10)) {
		text_add_clean(out, (struct str){time, 10});
		buf_add_char(out, ' ');
	}
	text_add_clean(out, (struct str){time + 11, 8});
}

/* "21:08:45  ✓ task.succeeded  64… demo on w1  exit 0" */
static void print_event(struct cli *c, const json_t *event)
{
	static const char *const names[] = {"task", "queue", "worker", "subject"};
	AUTO(buf_release) struct buf line = {0};
	const char *kind = js(event, "kind"), *state = event_state(kind);
	bool colour = c->term.out_colour;

	buf_add_cstr(&line, term_on(colour, COLOUR_DIM));
	add_time(c, event, &line);
	buf_printf(&line, "%s  %s%s ", term_off(colour), term_on(colour, state_colour(state)),
	    state_glyph(state, c->term.utf8));
	text_add_clean(&line, str_of(kind));
	buf_printf(
	    &line, "%*s%s", strlen(kind) < 16 ? (int)(16 - strlen(kind)) : 0, "", term_off(colour));
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (*js(event, names[i])) {
			/* "subject" is what the kind speaks of: queue.paused of a queue. */
			if (i == 3)
				buf_printf(&line, "  ");
			else
				buf_printf(&line, "  %s ", names[i]);
			text_add_clean(&line, str_of(js(event, names[i])));
		}
	if (c->format == FORMAT_WIDE && *js(event, "actor")) {
		buf_add_cstr(&line, "  by ");
		text_add_clean(&line, str_of(js(event, "actor")));
	}
	if (ji(event, "attempt", 0) > 1)
		buf_printf(&line, "  attempt %lld", (long long)ji(event, "attempt", 0));
	if (ji(event, "exit_code", 0) > 0)
		buf_printf(&line, "  exit %lld", (long long)ji(event, "exit_code", 0));
	if (json_object_size(json_object_get(event, "detail")) > 0) {
		AUTO(free_cstr)
		char *detail = json_dumps(json_object_get(event, "detail"),
		    JSON_COMPACT | json_reals(json_object_get(event, "detail")));

		buf_add_cstr(&line, "  ");
		text_add_clean(&line, str_of(detail));
	}
	puts(line.p);
}

static void show_event(struct cli *c, json_t *event)
{
	if (c->format == FORMAT_YAML) {
		puts("---");
		yaml_print(stdout, event);
	} else if (wants_machine(c)) { /* a stream of JSON is always one event a line */
		print_json_line(event);
	} else {
		print_event(c, event);
	}
}

static void show_one(struct watch *w, json_t *event)
{
	if (w->left == 0)
		return;
	show_event(w->c, event);
	fflush(stdout);
	if (w->left > 0)
		w->left--;
}

static void on_event(const char *kind, const char *data, void *arg)
{
	struct watch *w = arg;
	AUTO(json_drop) json_t *event = json_loads(data, 0, NULL);

	if (w->left == 0 || w->gap || !json_is_object(event))
		return;
	if (!strcmp(kind, "reset")) {
		w->gap = true;
		w->gap_after = ji(event, "after", 0);
		w->gap_to = ji(event, "seq", 0);
		cli_note(w->c, "reeve: some events were missed; of these the durable ones follow");
		return;
	}
	show_one(w, event);
}

static void on_bytes(struct str bytes, void *arg)
{
	struct watch *w = arg;

	sse_feed(&w->sse, bytes);
}

/* One connection, until it ends. */
static int stream_once(struct watch *w, const char *url, struct reply *ret_reply)
{
	struct request q = {.method = "GET",
	    .path = url,
	    .accept = "text/event-stream",
	    .on_data = on_bytes,
	    .arg = w,
	    .last_event_id = w->sse.last_id[0] ? w->sse.last_id : NULL};
	struct call *call = client_start(w->c->client, &q);

	sse_reset(&w->sse);
	while (!call_is_done(call) && interrupt_count() == 0 && w->left != 0 && !w->gap)
		client_pump(w->c->client, 1000);
	if (!call_is_done(call)) {
		call_abort(call);
		return 0;
	}
	return call_finish(call, ret_reply, &w->c->problem);
}

/* One page after `after` (NULL: the newest); its items are appended. */
static int add_page(struct cli *c, const char *url, const char *after, int64_t limit, json_t *items,
    char **ret_next)
{
	AUTO(buf_release) struct buf path = {0};
	AUTO(json_drop) json_t *page = NULL;
	char number[24];
	int r;

	buf_add_cstr(&path, url);
	if (after)
		url_add(&path, "after", after);
	snprintf(number, sizeof number, "%lld", (long long)limit);
	url_add(&path, "limit", number);
	r = cli_get(c, path.p, &page);
	if (r < 0)
		return r;
	json_array_extend(items, json_object_get(page, "items"));
	*ret_next = jhas(page, "next") ? xstrdup(js(page, "next")) : NULL;
	return 0;
}

/* The durable events of a gap; then the stream goes on behind it. */
static int fill_gap(struct watch *w, const char *url)
{
	AUTO(free_cstr) char *after = xasprintf("%lld", (long long)w->gap_after);

	while (after) {
		AUTO(json_drop) json_t *items = json_array();
		char *next = NULL;
		json_t *event;
		size_t i;
		int r = add_page(w->c, url, after, PAGE, items, &next);

		if (r < 0)
			return r;
		json_array_foreach(items, i, event)
		{
			if (ji(event, "seq", 0) > w->gap_to)
				continue;
			show_one(w, event);
			w->gap_after = ji(event, "seq", 0);
		}
		free(after);
		after = next;
	}
	snprintf(w->sse.last_id, sizeof w->sse.last_id, "%lld", (long long)w->gap_to);
	w->gap = false;
	return 0;
}

static int follow(struct cli *c, const char *url, const char *list_url, int64_t limit)
{
	struct watch w = {.c = c, .left = limit > 0 ? limit : -1};
	int64_t failing_since = 0;
	int tries = 0, r = 0;

	if (!cli_client(c))
		return c->problem.code;
	interrupt_catch();
	w.sse.fn = on_event;
	w.sse.arg = &w;
	while (interrupt_count() == 0 && w.left != 0) {
		AUTO(reply_release) struct reply reply = {0};
		char before[64];

		memcpy(before, w.sse.last_id, sizeof before);
		r = w.gap ? fill_gap(&w, list_url) : stream_once(&w, url, &reply);
		if (strcmp(before, w.sse.last_id) || r == 0)
			tries = 0, failing_since = 0;
		else if (!failing_since)
			failing_since = clock_mono_ms();
		if (r < 0 && (!client_may_retry(r, &reply) || (!w.sse.last_id[0] && tries > 2) ||
		                 (failing_since && clock_mono_ms() - failing_since > PATIENCE_MS)))
			break;
		if (interrupt_count() == 0 && w.left != 0 && !(r == 0 && w.gap))
			client_backoff(c->client, tries++);
		r = 0;
	}
	sse_release(&w.sse);
	return r;
}

static bool is_filtered(const struct cli *c)
{
	static const char *const filters[] = {"kind", "queue", "worker", "task", "batch", "group"};

	for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++)
		if (options_given(&c->options, filters[i]))
			return true;
	return false;
}

static void drop_first(json_t *items, size_t keep)
{
	while (json_array_size(items) > keep)
		json_array_remove(items, 0);
}

/* The last ones. The server filters what is in a page, so with a filter all pages are seen. */
static int list_last(struct cli *c, const char *url, int64_t limit, json_t **ret_items)
{
	AUTO(json_drop) json_t *items = json_array();
	bool newest = !is_filtered(c) && limit <= PAGE;
	AUTO(free_cstr) char *after = newest ? NULL : xstrdup("0");

	do {
		char *next = NULL;
		int r = add_page(c, url, after, newest ? limit : PAGE, items, &next);

		if (r < 0)
			return r;
		drop_first(items, (size_t)limit);
		free(after);
		after = next;
	} while (after && !newest);
	*ret_items = TAKE(items);
	return 0;
}

static void show_items(struct stream *s, json_t *items)
{
	json_t *event;
	size_t i;

	if (wants_machine(s->c)) {
		stream_json(s, items);
		return;
	}
	json_array_foreach(items, i, event) show_event(s->c, event);
	s->n += i;
}

static int end_events(struct stream *s, const char *next)
{
	if (wants_machine(s->c))
		stream_json_end(s, next);
	else if (s->n == 0)
		cli_note(s->c, "there are no such events; -f follows what happens from now on");
	return EXIT_OK;
}

/* From a number on, page by page: up to `limit` of them, or (0) all. */
static int show_from(struct cli *c, const char *url, const char *from, int64_t limit)
{
	struct stream s = {.c = c};
	AUTO(free_cstr) char *after = xstrdup(from);
	int64_t left = limit;

	do {
		AUTO(json_drop) json_t *items = json_array();
		char *next = NULL;
		int r = add_page(c, url, after, limit && left < PAGE ? left : PAGE, items, &next);

		if (r < 0)
			return r;
		show_items(&s, items);
		left -= (int64_t)json_array_size(items);
		free(after);
		after = next;
	} while (stream_flush(&s) && after && !(limit && left <= 0));
	return end_events(&s, after);
}

static int show_last(struct cli *c, const char *url, int64_t limit)
{
	struct stream s = {.c = c};
	AUTO(json_drop) json_t *items = NULL;
	int r = list_last(c, url, limit, &items);

	if (r < 0)
		return r;
	show_items(&s, items);
	return end_events(&s, NULL);
}

int cmd_events(struct cli *c)
{
	AUTO(buf_release) struct buf url = {0};
	const char *after = options_get(&c->options, "after");
	bool live = options_switch(&c->options, "follow", false);
	int64_t limit = live ? 0 : LIST_DEFAULT;

	if (options_i64(&c->options, "limit", 0, 10000000, &limit, &c->problem) < 0 ||
	    events_url(c, &url) < 0)
		return c->problem.code;
	if (live) {
		AUTO(buf_release) struct buf from = {0};

		buf_add_str(&from, buf_str(&url));
		if (after)
			url_add(&from, "after", after);
		return follow(c, from.p, url.p, limit);
	}
	if (options_given(&c->options, "task")) /* of its life, all of it is kept in the task */
		return task_history_show(c, options_get(&c->options, "task"));
	if (after || limit == 0)
		return show_from(c, url.p, after ? after : "0", limit);
	return show_last(c, url.p, limit);
}
