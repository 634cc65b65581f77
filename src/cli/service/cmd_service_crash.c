/* SPDX-License-Identifier: Apache-2.0 */
/* service crash: what becomes of instances that crash, and when they start again. */
#include "base/mem.h"
#include "cli/service/service.h"
#include "service/file/crash_file.h"

static char *wait_words(const struct cli *c, const json_t *step)
{
	char text[TIME_TEXT_MAX];

	if (jb(step, "never"))
		return xstrdup("never again");
	if (!jhas(step, "wait_ms"))
		return NULL;
	return xasprintf(
	    "%s after %s", js(step, "restarts_at"), time_human_ms(ji(step, "wait_ms", 0), text));
}

static const struct heading columns[] = {
    {"AT", 0, {SHOWN_TEXT, "at"}},
    {"INSTANCE", 0, {SHOWN_TEXT, "instance"}},
    {"EVENT", 0, {SHOWN_TEXT, "event"}},
    {"FROM", HEADING_WIDE, {SHOWN_TEXT, "from"}},
    {"STATE", 0, {SHOWN_TEXT, "state"}},
    {"CRASHES", HEADING_RIGHT, {SHOWN_NUMBER, "crash_count"}},
    {"STARTS AGAIN", 0, {.words = wait_words}},
    {"REFUSED", HEADING_STRETCH, {SHOWN_TEXT, "refused"}},
};

static const struct offline_view view = {"steps", columns, N_OF(columns), "nothing happens"};

int cmd_service_crash(struct cli *c)
{
	AUTO(buf_release) struct buf text = {0}, json = {0};
	AUTO(crash_file_release) struct crash_file file = {0};
	int rc = offline_read(c, &text);

	if (rc == 0)
		rc = crash_file_read(buf_str(&text), &file, &c->problem);
	if (rc < 0)
		return rc;
	crash_file_play(&file, &json);
	return offline_print(c, buf_str(&json), &view, NULL);
}
