/* SPDX-License-Identifier: Apache-2.0 */
/* place: who would go where, without a server. */
#include "base/mem.h"
#include "cli/service/service.h"
#include "service/file/place_file.h"

static char *work_words(const struct cli *c, const json_t *work)
{
	if (jhas(work, "task"))
		return xasprintf("task %s", js(work, "task"));
	return xasprintf("%s/%lld", js(work, "service"), (long long)ji(work, "index", 0));
}

static char *score_words(const struct cli *c, const json_t *work)
{
	const json_t *score = json_object_get(work, "score");

	return score ? xasprintf("%.3f", json_number_value(score)) : NULL;
}

static const struct heading columns[] = {
    {"WORK", 0, {.words = work_words}},
    {"WORKER", 0, {SHOWN_TEXT, "worker"}},
    {"ZONE", 0, {SHOWN_TEXT, "zone"}},
    {"SCORE", HEADING_RIGHT, {.words = score_words}},
    {"BESIDE", HEADING_RIGHT | HEADING_WIDE, {SHOWN_NUMBER, "colocated"}},
    {"WHY NOT", HEADING_STRETCH, {SHOWN_TEXT, "error"}},
};

static const struct offline_view view = {"work", columns, N_OF(columns), "there is no work"};

static void show_sum(struct cli *c, const json_t *answer)
{
	say(stdout, "%lld placed, %lld without a place", (long long)ji(answer, "placed", 0),
	    (long long)ji(answer, "failed", 0));
}

int cmd_place(struct cli *c)
{
	AUTO(buf_release) struct buf text = {0}, json = {0};
	AUTO(place_file_release) struct place_file file = {0};
	struct place_report report;
	int rc = offline_read(c, &text);

	if (rc == 0)
		rc = place_file_read(buf_str(&text), &file, &c->problem);
	if (rc < 0)
		return rc;
	place_file_run(&file, &report);
	place_report_json(&report, &json);
	place_report_release(&report);
	return offline_print(c, buf_str(&json), &view, show_sum);
}
