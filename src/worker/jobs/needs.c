/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/jobs/needs.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/timefmt.h"
#include "worker/jobs/body.h"

static void put_text(struct buf *b, const char *name, struct str text)
{
	buf_printf(b, ",\"%s\":", name);
	if (text.p)
		json_quote(b, text);
	else
		buf_add_cstr(b, "null");
}

static void put_time(struct buf *b, const char *name, int64_t ms)
{
	char text[TIME_TEXT_MAX];

	put_text(b, name, ms ? str_of(time_format_ms(ms, text)) : STR_NULL);
}

static void put_value(struct buf *b, const char *name, const json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

	buf_printf(b, ",\"%s\":%s", name, text ? text : "null");
	free(text);
}

/* A result that is no JSON is a text. The artifacts are those that the result itself lists. */
static void put_result(struct buf *b, const struct link_need *n)
{
	json_t *value = json_loadb(n->result.p ? n->result.p : "", n->result.n,
	    JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
	const json_t *artifacts = json_object_get(value, "artifacts");

	if (value)
		put_value(b, "result", value);
	else
		put_text(b, "result", n->result);
	if (json_is_array(artifacts))
		put_value(b, "artifacts", artifacts);
	if (n->is_cut)
		buf_add_cstr(b, ",\"result_left_out\":true");
	json_decref(value);
}

static void put_need(struct buf *b, const struct link_need *n, const struct id_space *ids)
{
	char id[ID_TEXT];

	id_format(ids, n->task, id);
	json_quote(b, n->job.n ? n->job : str_of(id));
	buf_printf(b, ":{\"task\":\"%s\"", id);
	put_text(b, "state", n->state);
	put_result(b, n);
	put_text(b, "worker", n->worker);
	put_text(b, "host", n->host);
	put_text(b, "target", n->target);
	put_time(b, "started", n->started_ms);
	put_time(b, "ended", n->ended_ms);
	buf_printf(b, ",\"attempt\":%d", n->attempt);
	if (n->exit_code >= 0)
		buf_printf(b, ",\"exit\":%d", n->exit_code);
	else
		buf_add_cstr(b, ",\"exit\":null");
	if (n->signal)
		buf_printf(b, ",\"signal\":%d", n->signal);
	put_text(b, "reason", n->reason);
	buf_add_char(b, '}');
}

void needs_write(const struct link_run *r, const struct id_space *ids, struct buf *b)
{
	buf_add_char(b, '{');
	for (size_t i = 0; i < r->n_needs; i++) {
		if (i)
			buf_add_char(b, ',');
		put_need(b, &r->needs[i], ids);
	}
	buf_add_char(b, '}');
}
