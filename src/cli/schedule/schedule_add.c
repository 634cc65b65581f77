/* SPDX-License-Identifier: Apache-2.0 */
/* schedule add, set: what was understood is said at once, in words and in times. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/frame/cmds.h"
#include "cli/schedule/schedules.h"
#include "cli/tasks/work.h"
#include "cron/words/words.h"

/* NAME stands before "--", the command after it. */
static int check_name(struct cli *c)
{
	const struct options *o = &c->options;

	if (o->n_args > 0 && !(o->has_dashes && o->dashes_at == 0))
		return 0;
	problem_set(&c->problem, ERR_INVALID, "a schedule needs a name");
	return problem_hint(&c->problem,
	    "put it before the command, as in: reeve %s NAME … -- ./backup.sh", c->command->path);
}

static int check_zone(struct cli *c, const struct cron_items *items)
{
	if (!cron_items_use_zone(items) || items->zone || options_given(&c->options, "tz"))
		return 0;
	cron_zone_missing(c);
	return problem_hint(&c->problem,
	    "--tz Europe/Berlin, --tz UTC, or --tz local for the server's own: the command "
	    "line's zone means nothing to it");
}

static void say_either_or(const struct cron_items *items)
{
	const char *words = cron_either_or_words(items);

	if (words)
		printf("note: %s\n", words);
}

static int print_understood(
    struct cli *c, json_t *schedule, const struct cron_items *items, const char *done)
{
	if (wants_machine(c)) {
		print_json(c, schedule);
		return EXIT_OK;
	}
	if (c->quiet)
		return EXIT_OK;
	say(stdout, "schedule %s %s", js(schedule, "name"), done);
	if (!items)
		return EXIT_OK;
	say_either_or(items);
	schedule_understood(c, schedule);
	putchar('\n');
	/* The schedule is made, whatever becomes of the questions about it. */
	if (schedule_print_future(c, schedule) < 0) {
		cli_complain(&c->term, &c->problem);
		c->problem = (struct problem){0};
	}
	return EXIT_OK;
}

static int dry_run(struct cli *c, const struct cron_pattern *p, json_t *body)
{
	AUTO(json_drop) json_t *draft = NULL;
	int r = cli_call(c, "POST", SCHEDULES_DRY_RUN, body, &draft);

	if (r < 0)
		return r;
	if (wants_machine(c)) {
		print_json(c, draft);
		return EXIT_OK;
	}
	say_either_or(&p->items);
	schedule_facts(c, draft);
	putchar('\n');
	schedule_print_preview(c, draft);
	cli_note(c, "nothing was added");
	return EXIT_OK;
}

static int add_task(struct cli *c, json_t *body)
{
	AUTO(json_drop) json_t *task = NULL;
	int r = task_from_options(c, 1, true, &task);

	if (r < 0)
		return r;
	directory_warn(c, task);
	json_object_set(body, "task", task);
	return 0;
}

static int add_one(struct cli *c, const struct cron_pattern *p)
{
	AUTO(json_drop) json_t *body = json_object(), *schedule = NULL;
	int r;

	if ((r = check_zone(c, &p->items)) < 0 || (r = schedule_need_shift(c, &p->items)) < 0 ||
	    (r = schedule_check_group(c)) < 0)
		return r;
	r = schedule_group_given(c) ? schedule_put_group(c, body) : add_task(c, body);
	if (r < 0)
		return r;
	if (body_add_text(c, body, "name", c->options.args[0]) < 0 ||
	    schedule_put_pattern(c, p, body) < 0 || schedule_put_policies(c, body) < 0)
		return c->problem.code;
	if (options_switch(&c->options, "dry-run", false))
		return dry_run(c, p, body);
	r = cli_call(c, "POST", schedule_noun.path, body, &schedule);
	return r < 0 ? r : print_understood(c, schedule, &p->items, "added");
}

/* A pattern, a name and a command come from the file. */
static int add_file(struct cli *c, const char *path)
{
	if (schedule_pattern_given(c))
		problem_set(&c->problem, ERR_INVALID,
		    "--from-crontab brings the times: no --item, --crontab or --calendar");
	else if (c->options.n_args > 0)
		problem_set(&c->problem, ERR_INVALID,
		    "--from-crontab brings names and commands: \"%.64s\" is too much",
		    c->options.args[0]);
	else if (schedule_group_given(c))
		problem_set(&c->problem, ERR_INVALID,
		    "--from-crontab brings commands: no --group or --trigger");
	else if (options_given(&c->options, "params") || options_given(&c->options, "action"))
		problem_set(&c->problem, ERR_INVALID,
		    "--from-crontab brings commands: no --params or --action");
	if (c->problem.code)
		return c->problem.code;
	return schedule_add_crontab(c, path);
}

static int only_with_file(struct cli *c)
{
	static const char *const options[] = {"system", "prefix"};

	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
		if (options_given(&c->options, options[i]))
			return problem_set(&c->problem, ERR_INVALID,
			    "--%s goes only with --from-crontab", options[i]);
	return 0;
}

int cmd_schedule_add(struct cli *c)
{
	const char *file = options_get(&c->options, "from-crontab");
	struct cron_pattern p;
	int r;

	if (file)
		return add_file(c, file);
	if (only_with_file(c) < 0 || check_name(c) < 0 || (r = cron_pattern_read(c, &p)) < 0)
		return c->problem.code;
	r = add_one(c, &p);
	cron_pattern_release(&p);
	return r;
}

/* The task is replaced as a whole: what is given is put over what it is now. */
static int put_task(struct cli *c, const json_t *old, json_t *body)
{
	json_t *task;

	if (jhas(old, "group")) {
		problem_set(&c->problem, ERR_CONFLICT, "it is a schedule of groups, and stays one");
		return problem_hint(&c->problem, "--group or --trigger replaces what it triggers");
	}
	task = json_deep_copy(json_object_get(old, "task"));
	json_object_set_new(body, "task", task);
	return task_put_options(c, 1, true, task);
}

static int fill(struct cli *c, void *arg, const json_t *old, json_t *body)
{
	int r = schedule_group_given(c) ? schedule_put_group(c, body)
	        : old                   ? put_task(c, old, body)
	                                : 0;

	if (r == 0)
		r = schedule_put_pattern(c, arg, body);
	return r < 0 ? r : schedule_put_policies(c, body);
}

static int set(struct cli *c, struct cron_pattern *p)
{
	static const struct cron_items same = {0};
	const struct change change = {task_given(c, 1) && !schedule_group_given(c), fill, p};
	AUTO(json_drop) json_t *schedule = NULL;
	bool times = p || options_given(&c->options, "tz") || options_given(&c->options, "dst") ||
	             options_given(&c->options, "start") || options_given(&c->options, "end");
	int r = noun_change(c, &schedule_noun, c->options.args[0], &change, &schedule);

	if (r < 0)
		return r;
	return print_understood(c, schedule, !times ? NULL : p ? &p->items : &same, "changed");
}

int cmd_schedule_set(struct cli *c)
{
	struct cron_pattern p;
	int r;

	if (check_name(c) < 0 || schedule_check_group(c) < 0)
		return c->problem.code;
	if (!schedule_pattern_given(c))
		return set(c, NULL);
	r = cron_pattern_read(c, &p);
	if (r < 0)
		return r;
	r = set(c, &p);
	cron_pattern_release(&p);
	return r;
}
