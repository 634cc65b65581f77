/* SPDX-License-Identifier: Apache-2.0 */
/* A crontab's lines as jobs: when, in which zone, which command with which variables. */
#include "cli/cron/crontab_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cron/cron_input.h"
#include "cron/words/words.h"

struct import {
	struct cli *cli;
	struct zones *zones;
	struct cron_dst dst;
	bool has_user;
	const char *tz; /* --tz */
	const char
	    *fallback; /* the zone of lines without one, when --tz does not say; NULL: none */
	json_t *env;   /* the variables so far */
	char *zone;    /* CRON_TZ so far; NULL: none */
	char *shell;   /* SHELL so far */
	bool mails;    /* MAILTO names somebody */
	json_t *items;
	int worst; /* exit code so far */
};

static void complain(struct import *im, size_t number)
{
	struct problem p = im->cli->problem;

	problem_set(&im->cli->problem, p.code, "line %zu: %.280s", number, p.what);
	if (p.hint[0])
		problem_hint(&im->cli->problem, "%s", p.hint);
	cli_complain(&im->cli->term, &im->cli->problem);
	if (err_exit_code(p.code) > im->worst)
		im->worst = err_exit_code(p.code);
	im->cli->problem = (struct problem){0};
}

static char *copy(struct str s)
{
	return xstrndup(s.n ? s.p : "", s.n);
}

static void replace(char **old, struct str value)
{
	free(*old);
	*old = copy(value);
}

static int set_zone(struct import *im, struct str name)
{
	AUTO(free_cstr) char *text = copy(name);
	struct zone_ref *zone;
	int r = cron_input_zone(im->cli, im->zones, text, &zone);

	if (r < 0)
		return r;
	zone_ref_drop(zone);
	free(im->zone);
	im->zone = TAKE(text);
	return 0;
}

/* SHELL, MAILTO and CRON_TZ are cron's own; all others are for the command. */
static int set_variable(struct import *im, const struct cron_line *line)
{
	AUTO(free_cstr) char *name = copy(line->name);
	json_t *value;

	if (!strcmp(name, "CRON_TZ"))
		return set_zone(im, line->value);
	if (!strcmp(name, "SHELL")) {
		replace(&im->shell, line->value);
		return 0;
	}
	if (!strcmp(name, "MAILTO") || !strcmp(name, "MAILFROM")) {
		im->mails = im->mails || (line->value.n > 0 && !strcmp(name, "MAILTO"));
		return 0;
	}
	value = json_stringn(line->value.n ? line->value.p : "", line->value.n);
	if (!value)
		return problem_set(
		    &im->cli->problem, ERR_INVALID, "the value of %.64s is not valid UTF-8", name);
	json_object_set_new(im->env, name, value);
	return 0;
}

static void add_remark(json_t *notes, const char *text)
{
	json_array_append_new(notes, json_string(text));
}

static json_t *notes_of(const struct import *im, const struct cron_items *items,
    const struct cron_line *line, bool input)
{
	json_t *notes = json_array();

	if (items->either_or)
		add_remark(notes, cron_either_or_words(items));
	if (items->full_range)
		add_remark(notes,
		    "a full range is as good as * when the clock changes: cron itself would "
		    "run a skipped time late, and a repeated one once");
	if (input)
		add_remark(notes, "what follows the first % is the command's standard input");
	if (im->mails)
		add_remark(notes, "MAILTO: Reeve sends no mail; it keeps the output");
	if (line->user.n)
		add_remark(notes, "the user must be allowed by the worker (worker.run_as)");
	if (!items->zone && !im->zone && !im->tz && cron_items_use_zone(items))
		add_remark(notes, "the zone is this machine's: --tz names another");
	return notes;
}

static json_t *text_json(struct str s)
{
	return s.n ? json_stringn(s.p, s.n) : json_null();
}

static const char *zone_of(const struct import *im, const struct cron_items *items)
{
	if (!cron_items_use_zone(items))
		return NULL;
	return items->zone ? items->zone : im->zone ? im->zone : im->tz ? im->tz : im->fallback;
}

static int add_job(
    struct import *im, const struct cron_line *line, size_t number, const struct cron_items *items)
{
	AUTO(buf_release) struct buf command = {0}, input = {0}, words = {0};
	bool has_input = cron_line_command(line->command, &command, &input);
	const char *shell = im->shell && *im->shell ? im->shell : "/bin/sh";
	json_t *job, *text = json_stringn(command.p ? command.p : "", command.n);

	cron_describe(items, &words);
	if (words.n)
		words.p[--words.n] = 0;
	if (!text)
		return problem_set(
		    &im->cli->problem, ERR_INVALID, "the command is not valid UTF-8");
	job = json_pack("{s:I,s:s%,s:o,s:s,s:s?,s:[s,s,o],s:o,s:o,s:o*,s:o}", "line",
	    (json_int_t)number, "schedule", line->schedule.p, line->schedule.n, "item",
	    cron_items_tree(items), "words", words.p ? words.p : "", "zone", zone_of(im, items),
	    "command", shell, "-c", text, "env", json_deep_copy(im->env), "user",
	    text_json(line->user), "stdin",
	    has_input ? json_stringn(input.p ? input.p : "", input.n) : json_null(), "notes",
	    notes_of(im, items, line, has_input));
	if (!job)
		return problem_set(&im->cli->problem, ERR_INVALID,
		    "the command's input or user is not valid UTF-8");
	json_array_append_new(im->items, job);
	return 0;
}

static int import_job(struct import *im, const struct cron_line *line, size_t number)
{
	struct cron_items items = {0};
	int r = cron_items_crontab(line->schedule, &im->dst, &items, &im->cli->problem);

	if (r < 0)
		return r;
	if (cron_items_use_zone(&items) && !zone_of(im, &items))
		r = cron_zone_missing(im->cli);
	else
		r = add_job(im, line, number, &items);
	cron_items_release(&items);
	return r;
}

static int import_line(struct str text, size_t number, void *arg)
{
	struct import *im = arg;
	struct cron_line line;
	int r = cron_line_split(text, im->has_user, &line, &im->cli->problem);

	if (r == 0 && line.kind == CRON_LINE_SETTING)
		r = set_variable(im, &line);
	else if (r == 0 && line.kind == CRON_LINE_JOB)
		r = import_job(im, &line, number);
	if (r < 0)
		complain(im, number);
	return 0;
}

static int read_jobs(struct import *im, const char *path)
{
	struct cli *c = im->cli;
	const char *dst = options_get(&c->options, "dst");
	struct zone_ref *zone;
	int r = 0;

	if (dst && (r = cron_dst_parse(str_of(dst), &im->dst, &c->problem)) < 0)
		return r;
	if (im->tz) {
		if ((r = cron_input_zone(c, im->zones, im->tz, &zone)) < 0)
			return r;
		zone_ref_drop(zone);
	}
	return cron_each_line(c, path, import_line, im);
}

int crontab_jobs(struct cli *c, const char *path, const char *fallback_zone, json_t **ret_jobs)
{
	struct import im = {.cli = c,
	    .zones = zones_new(NULL),
	    .dst = {.mode = CRON_DST_VIXIE},
	    .has_user = options_switch(&c->options, "system", false),
	    .tz = options_get(&c->options, "tz"),
	    .fallback = fallback_zone,
	    .env = json_object(),
	    .items = json_array()};
	int r = read_jobs(&im, path);

	json_decref(im.env);
	free(im.zone);
	free(im.shell);
	zones_free(im.zones);
	*ret_jobs = im.items;
	return r < 0 ? r : im.worst;
}

char *crontab_line_words(const struct cli *c, const json_t *job)
{
	const json_t *line = json_array_get(json_object_get(job, "command"), 2);

	return json_is_string(line) ? xstrdup(json_string_value(line)) : NULL;
}
