/* SPDX-License-Identifier: Apache-2.0 */
/* service converge: what one pass would do. */
#include "base/mem.h"
#include "cli/service/service.h"
#include "service/file/converge_file.h"

static const struct heading columns[] = {
    {"ACTION", 0, {SHOWN_TEXT, "action"}},
    {"INSTANCE", 0, {SHOWN_TEXT, "instance"}},
    {"RECORD", 0, {SHOWN_TEXT, "presence"}},
    {"WORKER", 0, {SHOWN_TEXT, "worker"}},
    {"REASON", HEADING_STRETCH, {SHOWN_TEXT, "reason"}},
};

static const struct offline_view view = {
    "actions", columns, N_OF(columns), "nothing is to be done"};

int cmd_service_converge(struct cli *c)
{
	AUTO(buf_release) struct buf text = {0}, json = {0};
	AUTO(converge_file_release) struct converge_file file = {0};
	AUTO(converge_report_release) struct converge_report report = {0};
	int rc = offline_read(c, &text);

	if (rc == 0)
		rc = converge_file_read(buf_str(&text), &file, &c->problem);
	if (rc < 0)
		return rc;
	converge_file_run(&file, &report);
	converge_report_json(&report, &json);
	return offline_print(c, buf_str(&json), &view, NULL);
}
