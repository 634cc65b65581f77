/* SPDX-License-Identifier: Apache-2.0 */
/* cron import: a crontab's lines as schedules. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cmds.h"
#include "cli/cron_input.h"
#include "cli/output.h"
#include "cron/words.h"

struct import {
	struct cli *cli;
	struct zones *zones;
	struct cron_dst dst;
	bool has_user;
	const char *tz; /* --tz */
	json_t *env;    /* the variables so far */
	char *zone;     /* CRON_TZ so far; NULL: none */
	char *shell;    /* SHELL so far */
	bool mails;     /* MAILTO names somebody */
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
		add_remark(notes, "both day fields are given: it runs when either matches");
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
	return items->zone ? items->zone : im->zone ? im->zone : im->tz ? im->tz : "local";
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
	job = json_pack("{s:I,s:o,s:s,s:s?,s:[s,s,o],s:o,s:o,s:o*,s:o}", "line", (json_int_t)number,
	    "item", cron_items_tree(items), "words", words.p ? words.p : "", "zone",
	    zone_of(im, items), "command", shell, "-c", text, "env", json_deep_copy(im->env),
	    "user", text_json(line->user), "stdin",
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

static void print_jobs(struct cli *c, const json_t *jobs)
{
	static const struct column columns[] = {{"LINE", COLUMN_RIGHT}, {"WHEN", 0}, {"ZONE", 0},
	    {"COMMAND", COLUMN_STRETCH}, {"NOTES", COLUMN_WIDE}};
	struct table t;
	json_t *job, *note;
	size_t i, j;

	table_init(&t, columns, 5);
	json_array_foreach(jobs, i, job)
	{
		AUTO(buf_release) struct buf notes = {0};
		AUTO(buf_release) struct buf when = {0};
		struct str rest = str_of(js(job, "words")), words;

		while (str_next(&rest, '\n', &words))
			buf_printf(&when, "%s" STR_FMT, when.n ? "; or " : "", STR_ARG(words));
		json_array_foreach(json_object_get(job, "notes"), j, note)
		    buf_printf(&notes, "%s%s", j ? "; " : "", json_string_value(note));
		table_addf(&t, "%lld", (long long)ji(job, "line", 0));
		table_add(&t, when.p);
		table_add(&t, js(job, "zone"));
		table_add(
		    &t, json_string_value(json_array_get(json_object_get(job, "command"), 2)));
		table_add(&t, notes.p);
	}
	table_print(&t, c);
	table_release(&t);
}

static int import_file(struct import *im)
{
	struct cli *c = im->cli;
	AUTO(json_drop) json_t *list = NULL;
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
	r = cron_each_line(c, c->options.args[0], import_line, im);
	list = json_pack("{s:O}", "items", im->items);
	if (wants_machine(c))
		print_json(c, list);
	else if (json_array_size(im->items))
		print_jobs(c, im->items);
	return r;
}

int cmd_cron_import(struct cli *c)
{
	struct import im = {.cli = c,
	    .zones = zones_new(NULL),
	    .dst = {.mode = CRON_DST_VIXIE},
	    .has_user = options_switch(&c->options, "system", false),
	    .tz = options_get(&c->options, "tz"),
	    .env = json_object(),
	    .items = json_array()};
	int r = import_file(&im);

	json_decref(im.env);
	json_decref(im.items);
	free(im.zone);
	free(im.shell);
	zones_free(im.zones);
	return r < 0 ? r : im.worst;
}
