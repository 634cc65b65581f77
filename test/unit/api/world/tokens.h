/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens in tests of the interface: made over the socket, shown over TCP. Included by two tests. */
#ifndef TEST_API_TOKENS_H
#define TEST_API_TOKENS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/frame/route.h"
#include "world.h"

static struct world *w;

struct bearer {
	char header[160];
};

static struct bearer token_make(const char *members)
{
	struct bearer b;
	char body[512];
	json_t *made;

	snprintf(body, sizeof body, "{%s}", members);
	made = ask_json(w, API_POST, "/v1/tokens", body, 201);
	snprintf(b.header, sizeof b.header, "Bearer %s", jstr(made, "token"));
	json_decref(made);
	return b;
}

static struct talk *talk_as(
    const struct bearer *b, enum api_method m, const char *target, const char *body)
{
	struct talk *t = talk_new(m, target, body);

	t->req.is_unix = false;
	t->req.authorization = str_of(b->header);
	return t;
}

static struct talk *ask_as(
    const struct bearer *b, enum api_method m, const char *target, const char *body)
{
	struct talk *t = talk_as(b, m, target, body);

	talk_send(w, t);
	world_run(w);
	return t;
}

static int status_as(
    const struct bearer *b, enum api_method m, const char *target, const char *body)
{
	struct talk *t = ask_as(b, m, target, body);
	int status = t->status;

	talk_free(t);
	return status;
}

static __attribute__((unused)) json_t *json_as(
    const struct bearer *b, enum api_method m, const char *target, const char *body, int status)
{
	struct talk *t = ask_as(b, m, target, body);
	json_t *v;

	if (t->status != status)
		fail_msg("%s answered %d, not %d: %s", target, t->status, status, t->body.p);
	v = t->body.n ? talk_json(t) : NULL;
	talk_free(t);
	return v;
}

static int setup(void **state)
{
	w = world_new();
	world_open(w);
	return 0;
}

static int teardown(void **state)
{
	world_free(w);
	return 0;
}

#endif
