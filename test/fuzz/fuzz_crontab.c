/* SPDX-License-Identifier: Apache-2.0 */
/* Crontab lines out of arbitrary bytes: as a schedule, and as a line of a file of either kind. */
#include "cron_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void inside(struct str part, struct str whole)
{
	MUST(part.n == 0 || (part.p >= whole.p && part.p + part.n <= whole.p + whole.n));
}

static void check_file_line(struct str line, bool has_user)
{
	struct cron_line l;
	struct problem p = {0};
	struct buf command = {0}, input = {0};

	if (cron_line_split(line, has_user, &l, &p)) {
		check_problem(p.code, &p);
		return;
	}
	inside(l.name, line);
	inside(l.value, line);
	inside(l.schedule, line);
	inside(l.user, line);
	inside(l.command, line);
	MUST((l.kind == CRON_LINE_JOB) == (l.command.n > 0));
	cron_line_command(l.command, &command, &input);
	MUST(command.n + input.n <= l.command.n + 1);
	buf_release(&command);
	buf_release(&input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size};
	struct cron_items items;
	struct problem p = {0};
	int rc = cron_items_crontab(text, NULL, &items, &p);

	if (rc)
		check_problem(rc, &p);
	else
		check_items(&items);
	check_file_line(text, false);
	check_file_line(text, true);
	return 0;
}
