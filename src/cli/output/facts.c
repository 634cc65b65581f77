/* SPDX-License-Identifier: Apache-2.0 */
/* Values of facts: what one line of `show` says. */
#include "base/mem.h"
#include "cli/output/output.h"

char *text_fact(const char *text)
{
	return *text ? xstrdup(text) : NULL;
}

char *time_fact(const json_t *j, const char *name)
{
	char ago[TIME_TEXT_MAX];

	if (!jhas(j, name))
		return NULL;
	return xasprintf("%s (%s)", js(j, name), jago(j, name, ago));
}

char *command_fact(const json_t *j)
{
	AUTO(buf_release) struct buf words = {0};

	add_command(&words, json_object_get(j, "command"));
	return words.p ? buf_take(&words) : NULL;
}

char *pairs_fact(const json_t *object)
{
	AUTO(buf_release) struct buf words = {0};

	add_pairs(&words, object);
	return words.p ? buf_take(&words) : NULL;
}

char *json_fact(const json_t *value)
{
	return value ? json_dumps(value, json_reals(value)) : NULL;
}
