/* SPDX-License-Identifier: Apache-2.0 */
/* A file in, an answer out: what the offline commands of services have in common. */
#include <stdio.h>

#include "base/mem.h"
#include "cli/service/service.h"
#include "cli/tasks/work.h"
#include "service/limits.h"

int offline_read(struct cli *c, struct buf *ret_text)
{
	if (c->options.n_args != 1)
		return problem_set(
		    &c->problem, ERR_INVALID, "reeve %s takes one FILE", c->command->path);
	return input_read(c, c->options.args[0], SERVICE_FILE_MAX, ret_text);
}

static void show(struct cli *c, const json_t *answer, const struct offline_view *view,
    void (*after)(struct cli *c, const json_t *answer))
{
	const json_t *list = json_object_get(answer, view->list);

	if (json_array_size(list))
		table_show(c, view->columns, view->n_columns, list);
	else
		say(stdout, "%s", view->none);
	if (after)
		after(c, answer);
}

int offline_print(struct cli *c, struct str text, const struct offline_view *view,
    void (*after)(struct cli *c, const json_t *answer))
{
	json_error_t e;
	AUTO(json_drop) json_t *answer = NULL;

	if (c->format == FORMAT_JSON) {
		fwrite(text.p, 1, text.n, stdout);
		return 0;
	}
	answer = json_loadb(text.p, text.n, 0, &e);
	if (!answer)
		return problem_set(&c->problem, ERR_INTERNAL, "the answer is no JSON: %s", e.text);
	if (wants_machine(c))
		print_json(c, answer);
	else
		show(c, answer, view, after);
	return 0;
}
