/* SPDX-License-Identifier: Apache-2.0 */
/* A value back to text: what a job says of its task is kept as JSON for whoever makes the task. */
#include "graph/file/node.h"
#include "graph/limits.h"
#include "graph/write/json_text.h"

static void scalar_json(const struct node *v, struct buf *out)
{
	if (node_is_null(v))
		buf_add_cstr(out, "null");
	else if (node_is_bool(v) || node_is_number(v))
		buf_add_str(out, v->text);
	else
		json_text(out, v->text);
}

/* Down and up again along the values; a file is nested PLAN_FILE_DEPTH_MAX deep at most. */
void node_json(const struct node *v, struct buf *out)
{
	const struct node *open[PLAN_FILE_DEPTH_MAX + 2], *at = v;
	size_t depth = 0;

	for (;;) {
		if (at->kind == NODE_TEXT)
			scalar_json(at, out);
		else
			buf_add_char(out, at->kind == NODE_LIST ? '[' : '{');
		if (at->kind != NODE_TEXT) {
			open[depth++] = at;
			at = at->first;
		} else {
			at = depth ? at->next : NULL;
		}
		while (!at && depth) {
			const struct node *done = open[--depth];

			buf_add_char(out, done->kind == NODE_LIST ? ']' : '}');
			at = depth ? done->next : NULL;
		}
		if (!at)
			return;
		if (open[depth - 1]->first != at)
			buf_add_char(out, ',');
		if (open[depth - 1]->kind == NODE_MAP) {
			json_text(out, at->key);
			buf_add_char(out, ':');
		}
	}
}
