/* SPDX-License-Identifier: Apache-2.0 */
/* What a group of packages was to build and cannot: told when it is submitted, and afterwards. */
#include "base/mem.h"
#include "cli/group/group.h"
#include "cli/group/live.h"
#include "cli/nouns/noun.h"
#include "cli/output/output.h"

#define SHOWN 20

static void add_line(const json_t *one, struct buf *out)
{
	buf_printf(out, "left out: %s%s%s: %s", js(one, "package"),
	    *js(one, "through") ? " through " : "", js(one, "through"), js(one, "reason"));
}

void left_out_tell(struct cli *c, const json_t *from, FILE *to)
{
	const json_t *list = json_object_get(from, "left_out");
	int64_t all = ji(from, "n_left_out", (int64_t)json_array_size(list));
	size_t most = c->format == FORMAT_WIDE ? SIZE_MAX : SHOWN, i;
	json_t *one;

	json_array_foreach(list, i, one)
	{
		AUTO(buf_release) struct buf line = {0};

		if (i == most)
			break;
		add_line(one, &line);
		if (to == stdout)
			say(to, "%s", line.p);
		else
			cli_note(c, "%s", line.p);
	}
	if ((int64_t)i < all)
		cli_note(c, "and %lld more were left out", (long long)(all - (int64_t)i));
}

/* A server of an older version does not know. */
int left_out_get(struct cli *c, const char *group, json_t **ret)
{
	int r = noun_call(c, "GET", &group_noun, group, "left-out", NULL, ret);

	if (r != ERR_NOT_FOUND)
		return r;
	c->problem = (struct problem){0};
	*ret = json_object();
	return 0;
}

int left_out_show(struct cli *c, const char *group)
{
	AUTO(json_drop) json_t *left = NULL;
	int r = left_out_get(c, group, &left);

	if (r == 0)
		left_out_tell(c, left, stdout);
	return r;
}

int group_exit_code(struct cli *c, const json_t *group)
{
	AUTO(json_drop) json_t *left = NULL;
	const json_t *first;
	int64_t n;
	int r;

	if (group_state_of(js(group, "state")) != GROUP_COMPLETE)
		return EXIT_FAILED;
	r = left_out_get(c, js(group, "id"), &left);
	n = ji(left, "n_touched", 0);
	if (r < 0 || !n)
		return r < 0 ? r : EXIT_OK;
	first = json_array_get(json_object_get(left, "left_out"), 0);
	cli_note(c, "%s was named, and was not built: %s%s", js(first, "package"),
	    js(first, "reason"), n == 1 ? "" : "; it is not the only one");
	return EXIT_LEFT_OUT;
}
