/* SPDX-License-Identifier: Apache-2.0 */
/* cron import: a crontab's lines as schedules. */
#include "base/mem.h"
#include "cli/cron/crontab_jobs.h"
#include "cli/frame/cmds.h"
#include "cli/schedule/schedules.h"

static char *notes_words(const struct cli *c, const json_t *job)
{
	AUTO(buf_release) struct buf notes = {0};
	json_t *note;
	size_t i;

	json_array_foreach(json_object_get(job, "notes"), i, note)
	    buf_printf(&notes, "%s%s", i ? "; " : "", json_string_value(note));
	return notes.p ? buf_take(&notes) : NULL;
}

static const struct heading columns[] = {
    {"LINE", HEADING_RIGHT, {SHOWN_NUMBER, "line"}},
    {"WHEN", 0, {.words = when_words}},
    {"ZONE", 0, {SHOWN_TEXT, "zone"}},
    {"COMMAND", HEADING_STRETCH, {.words = crontab_line_words}},
    {"NOTES", HEADING_WIDE, {.words = notes_words}},
};

int cmd_cron_import(struct cli *c)
{
	AUTO(json_drop) json_t *jobs = NULL, *list = NULL;
	int r = crontab_jobs(c, c->options.args[0], "local", &jobs);

	list = json_pack("{s:O}", "items", jobs);
	if (wants_machine(c))
		print_json(c, list);
	else if (json_array_size(jobs))
		table_show(c, columns, N_OF(columns), jobs);
	return r;
}
