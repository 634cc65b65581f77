/* SPDX-License-Identifier: Apache-2.0 */
/* status: how the server and its work stand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/frame/cmds.h"
#include "cli/insight/status.h"
#include "cli/output/output.h"

/* After a restart every worker must speak first. */
#define WAITING_SHOWN 5

/* The words say what is waited for; this adds when it ends, as far as they don't. */
static void add_until(const json_t *wait, struct buf *out)
{
	const char *code = js(wait, "code");
	char left[TIME_TEXT_MAX];

	if (!jhas(wait, "in_ms") || !strcmp(code, "initial-wait-worker"))
		return;
	time_human_ms(ji(wait, "in_ms", 0), left);
	if (!strcmp(code, "unsure"))
		buf_printf(out, " in %s", left);
	else if (!strcmp(code, "worker-health"))
		buf_printf(out, "; else it is lost in %s, at %.19sZ", left, js(wait, "until"));
	else
		buf_printf(out, " (until %.19sZ)", js(wait, "until"));
}

static void add_wait(const json_t *wait, const struct cli *c, struct buf *out)
{
	buf_printf(out, "  %s ", state_glyph("warn", c->term.utf8));
	text_add_clean(out, str_of(js(wait, "text")));
	add_until(wait, out);
	buf_add_char(out, '\n');
}

static void add_waiting(const json_t *status, const struct cli *c, struct buf *out)
{
	const json_t *waiting = json_object_get(status, "waiting");
	json_t *wait;
	size_t i;

	if (json_array_size(waiting))
		buf_printf(out, "waiting  for %zu thing%s\n", json_array_size(waiting),
		    json_array_size(waiting) == 1 ? "" : "s");
	json_array_foreach(waiting, i, wait)
	{
		if (i == WAITING_SHOWN && c->format != FORMAT_WIDE) {
			buf_printf(out, "  %s and %zu more; -o wide shows all\n",
			    state_glyph("warn", c->term.utf8), json_array_size(waiting) - i);
			break;
		}
		add_wait(wait, c, out);
	}
}

/* A server that takes tasks has always a few that are not in the index yet. */
#define LAG_SHOWN_MS 10000

static void add_search_lag(const json_t *status, const struct cli *c, struct buf *out)
{
	int64_t lag = ji(status, "search_lag_ms", 0);
	char age[TIME_TEXT_MAX];

	if (lag < LAG_SHOWN_MS)
		return;
	time_human_ms(lag, age);
	buf_printf(out,
	    "\nsearch   %s the index of words lacks the tasks of the last %s, which searches look "
	    "at one by one",
	    state_glyph("warn", c->term.utf8), age);
}

static void add_workers(const json_t *status, struct buf *out)
{
	static const struct {
		const char *state, *words;
	} rest[] = {
	    {"new", "new"}, {"unhealthy", "unhealthy"}, {"must_die", "lost"}, {"left", "left"}};
	const json_t *workers = json_object_get(status, "workers");
	int64_t n;

	buf_printf(out, "workers  %lld connected, %lld healthy",
	    (long long)ji(workers, "connected", 0), (long long)ji(workers, "healthy", 0));
	for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++)
		if ((n = ji(workers, rest[i].state, 0)) > 0)
			buf_printf(out, ", %lld %s", (long long)n, rest[i].words);
	buf_add_char(out, '\n');
}

/* Workers that must be known before anything starts: of interest only where that is so. */
static void add_set(const json_t *status, struct buf *out)
{
	const json_t *set = json_object_get(status, "worker_set");

	if (strcmp(js(status, "dispatch"), "volatile"))
		return;
	buf_printf(out, "dispatch volatile; worker set %lld (%lld worker%s), %s",
	    (long long)ji(set, "version", 0), (long long)ji(set, "workers", 0),
	    ji(set, "workers", 0) == 1 ? "" : "s",
	    jb(set, "consensus") ? "all agree" : "not all agree yet");
	if (ji(set, "batched", 0))
		buf_printf(out, "; %lld newcomer%s", (long long)ji(set, "batched", 0),
		    ji(set, "batched", 0) == 1 ? " waits" : "s wait");
	buf_add_char(out, '\n');
}

/* Used are those of all workers, the limit is that of the healthy ones: the rest take no tasks. */
static void add_threads(const json_t *threads, struct buf *out)
{
	long long used = ji(threads, "used", 0), max = ji(threads, "max", 0);

	if (!jhas(threads, "max"))
		buf_printf(out, "threads  %lld of no limit in use\n", used);
	else if (used <= max)
		buf_printf(out, "threads  %lld of %lld in use\n", used, max);
	else
		buf_printf(out,
		    "threads  %lld in use, also on workers that take no tasks now; "
		    "the healthy ones have %lld\n",
		    used, max);
}

/* What the whole cluster has, if anything is configured. */
static void add_resources(const json_t *resources, struct buf *out)
{
	json_t *one;
	size_t i;

	json_array_foreach(resources, i, one)
	{
		buf_add_cstr(out, i ? ", " : "cluster  ");
		text_add_clean(out, str_of(js(one, "name")));
		buf_printf(out, " %lld of %lld held", (long long)ji(one, "held", 0),
		    (long long)ji(one, "total", 0));
	}
	if (i)
		buf_add_char(out, '\n');
}

static void add_work(const json_t *status, struct buf *out)
{
	const json_t *tasks = json_object_get(status, "tasks");
	const json_t *threads = json_object_get(status, "threads");
	const json_t *rates = json_object_get(status, "rates");
	char a[TIME_TEXT_MAX], b[TIME_TEXT_MAX], d[TIME_TEXT_MAX];

	buf_printf(out, "tasks    %s running, %s claimed, %s queued",
	    human_count(ji(tasks, "running", 0), a), human_count(ji(tasks, "claimed", 0), b),
	    human_count(ji(tasks, "queued", 0), d));
	if (jhas(tasks, "delayed"))
		buf_printf(out, ", %s delayed", human_count(ji(tasks, "delayed", 0), a));
	if (ji(tasks, "held", 0) > 0)
		buf_printf(out, ", %s held", human_count(ji(tasks, "held", 0), a));
	if (ji(tasks, "unsure", 0) > 0)
		buf_printf(out, ", %s unsure", human_count(ji(tasks, "unsure", 0), a));
	buf_add_char(out, '\n');
	if (jhas(status, "rates")) /* a token with limits is not told */
		buf_printf(out, "rates    %s submitted, %s ended\n",
		    human_rate(json_number_value(json_object_get(rates, "submitted_per_s")), a),
		    human_rate(json_number_value(json_object_get(rates, "ended_per_s")), b));
	add_threads(threads, out);
	add_resources(json_object_get(status, "resources"), out);
}

static void add_services(const json_t *status, struct buf *out)
{
	static const struct {
		const char *member, *words;
	} rest[] = {{"ready", "ready"}, {"claimed", "starting"}, {"unclaimed", "waiting"},
	    {"crashed", "crashed"}, {"evacuating", "evacuating"}, {"suspect", "suspect"},
	    {"unplaced", "without a place"}};
	const json_t *services = json_object_get(status, "services");
	char n[TIME_TEXT_MAX];

	if (!ji(services, "total", 0) && !ji(services, "running", 0))
		return;
	buf_printf(out, "services %s", human_count(ji(services, "total", 0), n));
	buf_printf(out, ": %s running", human_count(ji(services, "running", 0), n));
	for (size_t i = 0; i < N_OF(rest); i++)
		if (ji(services, rest[i].member, 0) || !i)
			buf_printf(out, ", %s %s", human_count(ji(services, rest[i].member, 0), n),
			    rest[i].words);
	buf_add_char(out, '\n');
}

void status_render(struct cli *c, const json_t *status, struct buf *out)
{
	const json_t *store = json_object_get(status, "store");
	AUTO(buf_release) struct buf words = {0};
	bool ready = jb(status, "ready");
	char up[TIME_TEXT_MAX];

	buf_printf(&words, ", version %s, up %s, store %s", js(status, "version"),
	    time_human_ms(ji(status, "uptime_ms", 0), up), js(store, "backend"));
	buf_printf(out, "server   %s%s %s%s",
	    term_on(c->term.out_colour, ready ? COLOUR_GREEN : COLOUR_YELLOW),
	    state_glyph(ready ? "ok" : "warn", c->term.utf8), ready ? "ready" : "not ready yet",
	    term_off(c->term.out_colour));
	text_add_clean(out, buf_str(&words));
	if (jhas(status, "not_ready")) {
		buf_add_cstr(out, "\n         ");
		text_add_clean(out, str_of(js(status, "not_ready")));
	}
	if (jhas(status, "search_trouble")) {
		buf_printf(out, "\nsearch   %s there is no index of words: ",
		    state_glyph("warn", c->term.utf8));
		text_add_clean(out, str_of(js(status, "search_trouble")));
	}
	add_search_lag(status, c, out);
	if (c->client)
		buf_printf(out, "\naddress  %s", client_server(c->client));
	buf_add_char(out, '\n');
	add_workers(status, out);
	buf_printf(out, "queues   %lld\n", (long long)ji(status, "queues", 0));
	add_services(status, out);
	add_set(status, out);
	add_work(status, out);
	add_waiting(status, c, out);
}

static int draw_status(struct cli *c)
{
	AUTO(json_drop) json_t *status = NULL;
	AUTO(buf_release) struct buf out = {0};
	int r = cli_get(c, "/v1/status", &status);

	if (r < 0)
		return r;
	if (wants_machine(c)) {
		print_json(c, status);
		return EXIT_OK;
	}
	status_render(c, status, &out);
	if (!json_array_size(json_object_get(status, "waiting")))
		buf_add_cstr(&out,
		    "waiting  for nothing itself; `reeve why ID` says what a task waits for\n");
	fputs(out.p, stdout);
	return EXIT_OK;
}

int cmd_status(struct cli *c)
{
	return watch_loop(c, draw_status);
}
