/* SPDX-License-Identifier: Apache-2.0 */
/* schedule backfill: the tasks of ticks that have gone by without one. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/frame/cmds.h"
#include "cli/schedule/schedules.h"
#include "model/objects/schedule.h"
#include "wire/json/json_in.h"

#define PREVIEW_PAGE 100

struct stretch {
	int64_t from_s, to_s; /* to_s is not part of it */
};

/* RFC 3339, epoch seconds, or so long ago. Parts of a second count up. */
static int read_moment(struct cli *c, const char *option, int64_t now_ms, int64_t *ret_s)
{
	const char *given = options_get(&c->options, option);
	AUTO(buf_release) struct buf text = {0};
	int64_t ms = now_ms;

	if (given) {
		moment_text(given, &text);
		if (text_in_time(buf_str(&text), option, now_ms, -1, &ms, &c->problem) < 0)
			return c->problem.code;
	}
	*ret_s = ms / 1000 + (ms % 1000 > 0);
	return 0;
}

static int read_stretch(struct cli *c, struct stretch *ret)
{
	int64_t now_ms = clock_wall_ms();

	if (!options_given(&c->options, "from")) {
		problem_set(&c->problem, ERR_INVALID, "from when on? --from says it");
		return problem_hint(
		    &c->problem, "--from 2027-03-28T00:00:00+01:00, or --from 2d for two days ago");
	}
	if (read_moment(c, "from", now_ms, &ret->from_s) < 0 ||
	    read_moment(c, "to", now_ms, &ret->to_s) < 0)
		return c->problem.code;
	if (ret->from_s < ret->to_s)
		return 0;
	problem_set(&c->problem, ERR_INVALID, "--from does not lie before --to");
	return problem_hint(&c->problem, "--to is now unless it is given");
}

/* Ticks that have a task, {"2027-03-28T00:59:59.000Z": id}: those get no second one. */
static int ticks_with_tasks(struct cli *c, const char *name, json_t **ret_ticks)
{
	AUTO(buf_release) struct buf path = {0};
	AUTO(json_drop) json_t *list = NULL;
	json_t *tick;
	size_t i;
	int r;

	noun_path(c, &schedule_noun, name, "history", &path);
	r = cli_get_list(c, path.p, 0, &list);
	if (r < 0)
		return r;
	*ret_ticks = json_object();
	json_array_foreach(json_object_get(list, "items"), i, tick)
	{
		bool of_tick = strcmp(js(tick, "outcome"), "manual") != 0;

		bool has_one = jhas(tick, "task") || jhas(tick, "group");

		if (of_tick && (has_one || !strcmp(js(tick, "outcome"), "waiting")))
			json_object_set(
			    *ret_ticks, js(tick, "tick"), json_object_get(tick, "tick"));
	}
	return 0;
}

static int ask_page(struct cli *c, const json_t *schedule, int64_t from_s, json_t **ret_next)
{
	char from[TIME_TEXT_MAX];
	AUTO(json_drop)
	json_t *ask = json_pack("{s:O,s:O,s:s,s:i}", "items", json_object_get(schedule, "items"),
	    "time_zone", json_object_get(schedule, "time_zone"), "from",
	    time_format_ms(from_s * 1000, from), "n", PREVIEW_PAGE);
	AUTO(json_drop) json_t *answer = NULL;
	int r = cli_call(c, "POST", "/v1/schedules/preview", ask, &answer);

	if (r == 0)
		*ret_next = json_incref(json_object_get(answer, "next"));
	return r;
}

/* All ticks in the stretch that its start and end allow, a page after the other. */
static int list_ticks(
    struct cli *c, const json_t *schedule, struct stretch s, const json_t *had, json_t *ret_items)
{
	int64_t start_ms = jtime(schedule, "start"), end_ms = jtime(schedule, "end");

	for (bool more = true; more;) {
		AUTO(json_drop) json_t *page = NULL;
		json_t *moment;
		size_t i;
		int r = ask_page(c, schedule, s.from_s, &page);

		if (r < 0)
			return r;
		more = json_array_size(page) == PREVIEW_PAGE;
		json_array_foreach(page, i, moment)
		{
			int64_t ms = jtime(moment, "utc");

			if (ms >= s.to_s * 1000 || (end_ms && ms > end_ms) ||
			    json_array_size(ret_items) > BACKFILL_MAX)
				return 0;
			s.from_s = ms / 1000 + 1;
			json_object_set_new(moment, "has_task",
			    json_boolean(!!json_object_get(had, js(moment, "utc"))));
			if (ms >= start_ms)
				json_array_append(ret_items, moment);
		}
	}
	return 0;
}

static char *would_words(const struct cli *c, const json_t *tick)
{
	return xstrdup(jb(tick, "has_task") ? "not run: it has a task" : "run");
}

static void print_ticks(struct cli *c, const char *what, const json_t *ticks)
{
	static const struct heading columns[] = {{"TICK", 0, {.words = local_words}},
	    {"UTC", 0, {.words = utc_words}}, {"WOULD", 0, {.words = would_words}}};
	json_t *tick;
	size_t i, n = 0;

	json_array_foreach(ticks, i, tick) n += !jb(tick, "has_task");
	if (i > 0)
		table_show(c, columns, N_OF(columns), ticks);
	cli_note(c, "%zu of %zu ticks would get a %s; none was submitted", n, i, what);
}

static int dry_run(struct cli *c, const char *name, struct stretch s)
{
	AUTO(json_drop) json_t *schedule = NULL, *had = NULL, *items = json_array(), *list = NULL;
	int r;

	if ((r = noun_get(c, &schedule_noun, name, &schedule)) < 0 ||
	    (r = ticks_with_tasks(c, name, &had)) < 0 ||
	    (r = list_ticks(c, schedule, s, had, items)) < 0)
		return r;
	if (json_array_size(items) > BACKFILL_MAX) {
		problem_set(&c->problem, ERR_TOO_LARGE,
		    "there are more than %d ticks in that range", BACKFILL_MAX);
		return problem_hint(&c->problem, "fill it in by several smaller ranges");
	}
	list = json_pack("{s:O}", "items", items);
	if (wants_machine(c))
		print_json(c, list);
	else
		print_ticks(c, jhas(schedule, "group") ? "group" : "task", items);
	return EXIT_OK;
}

static int backfill(struct cli *c, const char *name, struct stretch s)
{
	char from[TIME_TEXT_MAX], to[TIME_TEXT_MAX];
	AUTO(json_drop) json_t *reply = NULL;
	AUTO(json_drop)
	json_t *body = json_pack("{s:s,s:s}", "from", time_format_ms(s.from_s * 1000, from), "to",
	    time_format_ms(s.to_s * 1000, to));
	const json_t *groups;
	size_t n;
	int r;

	/* The server's own now, which its clock has reached for sure. */
	if (!options_given(&c->options, "to"))
		json_object_del(body, "to");
	r = noun_call(c, "POST", &schedule_noun, name, "backfill", body, &reply);
	if (r < 0)
		return r;
	groups = json_object_get(reply, "groups");
	n = json_array_size(groups ? groups : json_object_get(reply, "tasks"));
	if (wants_machine(c))
		print_json(c, reply);
	else if (n)
		printf("%zu %s%s submitted\n", n, groups ? "group" : "task", n == 1 ? "" : "s");
	else
		printf("nothing to fill in: every tick there has its %s, or there is none\n",
		    groups ? "group" : "task");
	return EXIT_OK;
}

int cmd_schedule_backfill(struct cli *c)
{
	struct stretch s = {0};

	if (noun_alone(c) < 0 || read_stretch(c, &s) < 0)
		return c->problem.code;
	if (options_switch(&c->options, "dry-run", false))
		return dry_run(c, c->options.args[0], s);
	return backfill(c, c->options.args[0], s);
}
