/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where JSON is parsed: short texts at once, long ones on a reader's thread, since a megabyte takes
 * longer than anybody else should have to wait for the loop.
 */
#include <stdlib.h>
#include <string.h>

#include "api/frame/call.h"
#include "wire/json/json_in.h"

#define PARSE_HERE_BYTES (128u << 10)
#define COPY_BYTES (2u << 20)

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

static void copy_over(struct call *c)
{
	if (c->away.timer)
		c->host->cancel_timer(c->host->arg, TAKE(c->away.timer));
}

/* Fresh memory for 64 MB takes the loop longer than others should wait. */
static void copy_more(void *arg)
{
	struct call *c = arg;
	struct parse_away *a = &c->away;
	size_t left = a->n - a->copied, n = left < COPY_BYTES ? left : COPY_BYTES;

	a->timer = NULL;
	memcpy(a->text + a->copied, c->req.body.p + a->copied, n);
	a->copied += n;
	call_hash(c, a->copied);
	if (a->copied < a->n) {
		a->timer = c->host->timer(c->host->arg, 0, copy_more, c);
		return;
	}
	c->on_over = NULL;
	a->then(c);
}

void call_copy_body(struct call *c, call_fn *fn)
{
	parse_release(c);
	c->away.text = xmalloc(c->req.body.n + 1);
	c->away.n = c->req.body.n;
	c->away.then = fn;
	c->on_over = copy_over;
	copy_more(c);
}
