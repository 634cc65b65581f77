/* SPDX-License-Identifier: Apache-2.0 */
/* events: the durable ones as a list, or the live stream, over broken connections. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/cmds.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/place.h"
#include "cli/sse.h"

#define LIST_DEFAULT 100
#define PATIENCE_MS 60000

struct watch {
	struct cli *c;
	struct sse sse;
	int64_t left; /* events still wanted; -1: no end */
};

static int events_url(struct cli *c, struct buf *url)
{
	static const char *const singles[] = {"queue", "worker", "after"};
	const char *value;
	char id[25];
	size_t at = 0;

	buf_add_cstr(url, "/v1/events");
	while ((value = options_next(&c->options, "kind", &at)))
		url_add(url, "kind", value);
	for (size_t i = 0; i < sizeof singles / sizeof singles[0]; i++)
		if ((value = options_get(&c->options, singles[i])))
			url_add(url, singles[i], value);
	if ((value = options_get(&c->options, "task"))) {
		if (id_resolve(value, id, &c->problem) < 0)
			return c->problem.code;
		url_add(url, "task", id);
	}
	if ((value = options_get(&c->options, "batch"))) {
		if (batch_resolve(value, id, &c->problem) < 0)
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

/* "21:08:45  ✓ task.succeeded  64… demo on w1  exit 0" */
static void print_event(struct cli *c, const json_t *event)
{
	static const char *const names[] = {"task", "queue", "worker", "subject"};
	AUTO(buf_release) struct buf line = {0};
	const char *kind = js(event, "kind"), *full = js(event, "time");
	const char *state = event_state(kind), *time = strlen(full) > 18 ? full + 11 : full;
	bool colour = c->term.out_colour;

	buf_add_cstr(&line, term_on(colour, COLOUR_DIM));
	text_add_clean(&line, (struct str){time, strnlen(time, 8)});
	buf_printf(&line, "%s  %s%s ", term_off(colour), term_on(colour, state_colour(state)),
	    state_glyph(state, c->term.utf8));
	text_add_clean(&line, str_of(kind));
	buf_printf(
	    &line, "%*s%s", strlen(kind) < 16 ? (int)(16 - strlen(kind)) : 0, "", term_off(colour));
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (*js(event, names[i])) {
			buf_printf(&line, "  %s ", names[i]);
			text_add_clean(&line, str_of(js(event, names[i])));
		}
	if (ji(event, "attempt", 0) > 1)
		buf_printf(&line, "  attempt %lld", (long long)ji(event, "attempt", 0));
	if (ji(event, "exit_code", 0) > 0)
		buf_printf(&line, "  exit %lld", (long long)ji(event, "exit_code", 0));
	if (json_object_size(json_object_get(event, "detail")) > 0) {
		AUTO(free_cstr)
		char *detail = json_dumps(json_object_get(event, "detail"), JSON_COMPACT);

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

static void on_event(const char *kind, const char *data, void *arg)
{
	struct watch *w = arg;
	AUTO(json_drop) json_t *event = json_loads(data, 0, NULL);

	if (w->left == 0)
		return;
	if (!strcmp(kind, "reset")) {
		cli_note(w->c, "reeve: some events were missed; the server no longer has them");
		return;
	}
	if (!json_is_object(event))
		return;
	show_event(w->c, event);
	fflush(stdout);
	if (w->left > 0)
		w->left--;
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
	while (!call_is_done(call) && interrupt_count() == 0 && w->left != 0)
		client_pump(w->c->client, 1000);
	if (!call_is_done(call)) {
		call_abort(call);
		return 0;
	}
	return call_finish(call, ret_reply, &w->c->problem);
}

static int follow(struct cli *c, const char *url, int64_t limit)
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
		r = stream_once(&w, url, &reply);
		if (strcmp(before, w.sse.last_id) || r == 0)
			tries = 0, failing_since = 0;
		else if (!failing_since)
			failing_since = clock_mono_ms();
		if (r < 0 && (!client_may_retry(r, &reply) || (!w.sse.last_id[0] && tries > 2) ||
		                 (failing_since && clock_mono_ms() - failing_since > PATIENCE_MS)))
			break;
		if (interrupt_count() == 0 && w.left != 0)
			client_backoff(c->client, tries++);
		r = 0;
	}
	sse_release(&w.sse);
	return r;
}

int cmd_events(struct cli *c)
{
	AUTO(buf_release) struct buf url = {0};
	AUTO(json_drop) json_t *list = NULL;
	bool live = options_switch(&c->options, "follow", false);
	int64_t limit = live ? 0 : LIST_DEFAULT;
	json_t *event;
	size_t i;
	int r;

	if (options_i64(&c->options, "limit", 0, 10000000, &limit, &c->problem) < 0 ||
	    events_url(c, &url) < 0)
		return c->problem.code;
	if (live)
		return follow(c, url.p, limit);
	r = cli_get_list(c, url.p, (size_t)limit, &list);
	if (r < 0)
		return r;
	if (wants_machine(c)) {
		print_json(c, list);
		return EXIT_OK;
	}
	json_array_foreach(json_object_get(list, "items"), i, event) show_event(c, event);
	if (i == 0)
		cli_note(c, "there are no such events; -f follows what happens from now on");
	return EXIT_OK;
}
