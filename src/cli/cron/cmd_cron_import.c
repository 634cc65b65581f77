/* SPDX-License-Identifier: Apache-2.0 */
/* cron import: a crontab's lines as schedules. */
#include <stdio.h>

#include "base/mem.h"
#include "cli/cron/crontab_jobs.h"
#include "cli/frame/cmds.h"
#include "cli/output/output.h"

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

int cmd_cron_import(struct cli *c)
{
	AUTO(json_drop) json_t *jobs = NULL, *list = NULL;
	int r = crontab_jobs(c, c->options.args[0], "local", &jobs);

	list = json_pack("{s:O}", "items", jobs);
	if (wants_machine(c))
		print_json(c, list);
	else if (json_array_size(jobs))
		print_jobs(c, jobs);
	return r;
}
