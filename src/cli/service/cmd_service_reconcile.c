/* SPDX-License-Identifier: Apache-2.0 */
/* service reconcile: what a worker does with what it has; or the whole table of that. */
#include "base/mem.h"
#include "cli/service/service.h"
#include "service/file/reconcile_file.h"

/* Of seven, all is "any". */
static char *list_words(const json_t *row, const char *name)
{
	const json_t *list = json_object_get(row, name), *one;
	struct buf b = {0};
	size_t i;

	if (json_array_size(list) == N_RECONCILE_RECORDS)
		return xstrdup("any");
	json_array_foreach(list, i, one)
	    buf_printf(&b, "%s%s", i ? ", " : "", json_string_value(one));
	return buf_take(&b);
}

static char *containers_words(const struct cli *c, const json_t *row)
{
	return list_words(row, "containers");
}

static char *records_words(const struct cli *c, const json_t *row)
{
	return list_words(row, "records");
}

static const struct heading case_columns[] = {
    {"INSTANCE", 0, {SHOWN_TEXT, "instance"}},
    {"CONTAINER", 0, {SHOWN_TEXT, "container"}},
    {"RECORD", 0, {SHOWN_TEXT, "record"}},
    {"WHEN", HEADING_WIDE, {SHOWN_TEXT, "when"}},
    {"DECISION", 0, {SHOWN_TEXT, "decision"}},
    {"REASON", HEADING_STRETCH, {SHOWN_TEXT, "reason"}},
};
static const struct heading row_columns[] = {
    {"WHEN", 0, {SHOWN_TEXT, "when"}},
    {"CONTAINER", 0, {.words = containers_words}},
    {"RECORD", 0, {.words = records_words}},
    {"DECISION", 0, {SHOWN_TEXT, "decision"}},
    {"REASON", HEADING_STRETCH, {SHOWN_TEXT, "reason"}},
};

static const struct offline_view case_view = {
    "cases", case_columns, N_OF(case_columns), "there is nothing to look at"};
static const struct offline_view row_view = {"rows", row_columns, N_OF(row_columns), ""};

static int show_table(struct cli *c)
{
	AUTO(buf_release) struct buf json = {0};

	if (c->options.n_args)
		return problem_set(&c->problem, ERR_INVALID, "--table takes no FILE");
	reconcile_table_json(&json);
	return offline_print(c, buf_str(&json), &row_view, NULL);
}

int cmd_service_reconcile(struct cli *c)
{
	AUTO(buf_release) struct buf text = {0}, json = {0};
	AUTO(reconcile_file_release) struct reconcile_file file = {0};
	int rc;

	if (options_given(&c->options, "table"))
		return show_table(c);
	rc = offline_read(c, &text);
	if (rc == 0)
		rc = reconcile_file_read(buf_str(&text), &file, &c->problem);
	if (rc < 0)
		return rc;
	reconcile_file_json(&file, &json);
	return offline_print(c, buf_str(&json), &case_view, NULL);
}
