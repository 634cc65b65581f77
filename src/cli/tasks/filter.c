/* SPDX-License-Identifier: Apache-2.0 */
/* The filters on tasks, as a query and as JSON. */
#include <string.h>

#include "base/mem.h"
#include "cli/output/output.h"
#include "cli/reach/target.h"
#include "cli/tasks/work.h"

#define FAILED_STATES "failed,terminated,orphaned"

bool filter_is_plain(const struct option_def *o)
{
	return strcmp(o->name, "batch") != 0 && strcmp(o->name, "group") != 0;
}

/* The value of a filter that is given once and sent as it is; NULL: it is another, or not given. */
static const char *single(const struct cli *c, const struct option_def *o)
{
	return filter_is_plain(o) && !(o->flags & OPTION_REPEAT) ? options_get(&c->options, o->name)
	                                                         : NULL;
}

static bool has_failed(const struct cli *c)
{
	bool negated;

	return options_find(&c->options, STR("failed"), &negated) &&
	       options_switch(&c->options, "failed", false);
}

bool filter_given(const struct cli *c)
{
	for (const struct option_def *o = filter_options; o->name; o++)
		if (options_given(&c->options, o->name))
			return true;
	return has_failed(c);
}

/* What they were submitted in, by its id; "": nothing was said. */
struct owners {
	char batch[25], group[25];
};

static int get_owners(struct cli *c, struct owners *ret)
{
	const char *batch = options_get(&c->options, "batch");
	const char *group = options_get(&c->options, "group");

	*ret = (struct owners){0};
	if (batch && batch_find(c, batch, ret->batch) < 0)
		return c->problem.code;
	return group ? group_id_of(c, group, ret->group) : 0;
}

int filter_url(struct cli *c, struct buf *url)
{
	const char *value;
	struct owners of;
	size_t at = 0;

	for (const struct option_def *o = filter_options; o->name; o++)
		if ((value = single(c, o)))
			url_add(url, o->name, value);
	while ((value = options_next(&c->options, "state", &at)))
		url_add(url, "state", value);
	if (has_failed(c))
		url_add(url, "state", FAILED_STATES);
	at = 0;
	while ((value = options_next(&c->options, "label", &at)))
		url_add(url, "label", value);
	if (get_owners(c, &of) < 0)
		return c->problem.code;
	if (*of.batch)
		url_add(url, "batch", of.batch);
	if (*of.group)
		url_add(url, "group", of.group);
	return 0;
}

static void add_states(json_t *states, const char *list)
{
	struct str rest = str_of(list), part;

	while (str_next(&rest, ',', &part))
		json_array_append_new(states, json_stringn(part.p, part.n));
}

int filter_json(struct cli *c, json_t **ret_filter)
{
	AUTO(json_drop) json_t *filter = json_object();
	json_t *states = json_array(), *labels = json_array();
	const char *value;
	struct owners of;
	size_t at = 0;

	json_object_set_new(filter, "state", states);
	json_object_set_new(filter, "label", labels);
	for (const struct option_def *o = filter_options; o->name; o++)
		if ((value = single(c, o)))
			json_object_set_new(filter, o->name, json_string(value));
	while ((value = options_next(&c->options, "state", &at)))
		add_states(states, value);
	if (has_failed(c))
		add_states(states, FAILED_STATES);
	at = 0;
	while ((value = options_next(&c->options, "label", &at)))
		json_array_append_new(labels, json_string(value));
	if (get_owners(c, &of) < 0)
		return c->problem.code;
	if (*of.batch)
		json_object_set_new(filter, "batch", json_string(of.batch));
	if (*of.group)
		json_object_set_new(filter, "group", json_string(of.group));
	if (json_array_size(states) == 0)
		json_object_del(filter, "state");
	if (json_array_size(labels) == 0)
		json_object_del(filter, "label");
	*ret_filter = TAKE(filter);
	return 0;
}
