/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of tasks: `batch show`, by id, name or @last. */
#include "base/mem.h"
#include "cli/frame/cmds.h"
#include "cli/nouns/noun.h"
#include "cli/reach/target.h"

const struct noun batch_noun = {
    .word = "batch", .path = "/v1/batches", .list = &batch_list, .view = &batch_view};

static int show_one(struct cli *c, const struct noun *n, const char *name)
{
	AUTO(json_drop) json_t *batch = NULL;
	char id[25];
	int r = batch_find(c, name, id);

	if (r == 0)
		r = batch_get(c, id, &batch);
	if (r < 0)
		return r;
	if (wants_machine(c)) {
		print_json(c, batch);
		return EXIT_OK;
	}
	if (name != c->options.args[0])
		say(stdout, "%s", "");
	facts_show(c, n->view->facts, n->view->n_facts, batch);
	return EXIT_OK;
}

static int draw(struct cli *c)
{
	return noun_each(c, show_one);
}

int cmd_batch_show(struct cli *c)
{
	return watch_loop(c, draw);
}
