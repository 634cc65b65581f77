/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where JSON is parsed: short texts at once, long ones on a reader's thread, since a megabyte takes
 * longer than anybody else should have to wait for the loop.
 */
#include <stdlib.h>
#include <string.h>

#include "api/frame/call.h"
#include "wire/json_in.h"

#define PARSE_HERE_BYTES (128u << 10)

bool parse_is_long(struct str text)
{
	return text.n > PARSE_HERE_BYTES;
}

static void parse_away(struct store_reader *r, void *arg)
{
	struct parse_away *a = &((struct call *)arg)->away;

	a->rc = json_in_parse((struct str){a->text, a->n}, &a->value, &a->problem);
}

void call_parse(struct call *c, struct str text, call_fn *fn)
{
	parse_release(c);
	/* the client may leave, and take the text with it, while it is read */
	c->away.text = xmalloc(text.n);
	c->away.n = text.n;
	memcpy(c->away.text, text.p, text.n);
	call_read_long(c, parse_away, fn);
}

int call_parsed(struct call *c, struct str text, json_t **ret_value, struct problem *p)
{
	struct parse_away *a = &c->away;
	int rc = a->rc;

	if (!a->text)
		return json_in_parse(text, ret_value, p);
	if (rc)
		*p = a->problem;
	else
		*ret_value = TAKE(a->value);
	parse_release(c);
	return rc;
}

void parse_release(struct call *c)
{
	json_decref(c->away.value);
	free(c->away.text);
	c->away = (struct parse_away){0};
}
