/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/plugins/frames.h"

#include <string.h>

#include "model/limits.h"

int frame_take(struct str read, size_t *at, struct str *ret_payload, const char **ret_why)
{
	const unsigned char *p = (const unsigned char *)read.p + *at;
	size_t left = read.n - *at, n;

	if (left < 4)
		return 0;
	n = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
	if (n == 0 || n > PLUGIN_FRAME_MAX) {
		*ret_why = n == 0 ? "an empty frame" : "a frame of more than 1 MiB";
		return -1;
	}
	if (left - 4 < n)
		return 0;
	*ret_payload = (struct str){(const char *)p + 4, n};
	*at += 4 + n;
	return 1;
}

static struct str text_of(const json_t *j)
{
	if (!json_is_string(j))
		return STR_NULL;
	return (struct str){json_string_value(j), json_string_length(j)};
}

static int parse_hello(json_t *o, struct plugin_frame *f, const char **ret_why)
{
	json_t *n = json_object_get(o, "concurrency");

	f->kind = FRAME_HELLO;
	f->concurrency = 1;
	f->can_cancel = json_is_true(json_object_get(o, "cancel"));
	if (json_integer_value(json_object_get(o, "reeve")) != 1) {
		*ret_why = "a hello of an unknown version (\"reeve\" must be 1)";
		return -1;
	}
	if (!n)
		return 0;
	if (!json_is_integer(n) || json_integer_value(n) < 1 ||
	    json_integer_value(n) > PLUGIN_CONCURRENCY_MAX) {
		*ret_why = "a concurrency that is not a number from 1 to 1024";
		return -1;
	}
	f->concurrency = (int)json_integer_value(n);
	return 0;
}

static int parse_output(json_t *o, struct plugin_frame *f, const char **ret_why)
{
	struct str stream = text_of(json_object_get(o, "stream"));

	f->kind = FRAME_OUTPUT;
	f->data = text_of(json_object_get(o, "data"));
	f->stream = str_is(stream, "stderr") ? STDERR : STDOUT;
	if (!f->data.p || (!str_is(stream, "stdout") && !str_is(stream, "stderr"))) {
		*ret_why =
		    "an output without \"stream\" (stdout or stderr) and \"data\" (a string)";
		return -1;
	}
	return 0;
}

static int parse_reply(json_t *o, struct plugin_frame *f, const char **ret_why)
{
	json_t *status = json_object_get(o, "status");

	f->kind = FRAME_REPLY;
	if (!json_is_integer(status) || json_integer_value(status) < 1 ||
	    json_integer_value(status) > PLUGIN_STATUS_MAX) {
		*ret_why = "a reply whose \"status\" is not a positive number";
		return -1;
	}
	f->status = (int)json_integer_value(status);
	f->output[STDOUT] = text_of(json_object_get(o, "stdout"));
	f->output[STDERR] = text_of(json_object_get(o, "stderr"));
	f->reason = text_of(json_object_get(o, "reason"));
	return 0;
}

static int parse_object(json_t *o, struct plugin_frame *f, const char **ret_why)
{
	json_t *output;

	if (!json_is_object(o)) {
		*ret_why = "something that is not a JSON object";
		return -1;
	}
	if (json_object_get(o, "reeve"))
		return parse_hello(o, f, ret_why);
	f->id = text_of(json_object_get(o, "id"));
	f->token = json_integer_value(json_object_get(o, "token"));
	if (!f->id.p) {
		*ret_why = "an object without \"id\"";
		return -1;
	}
	if ((output = json_object_get(o, "output")))
		return parse_output(output, f, ret_why);
	return parse_reply(o, f, ret_why);
}

int frame_parse(struct str payload, struct plugin_frame *ret_frame, const char **ret_why)
{
	json_t *o = json_loadb(payload.p, payload.n, JSON_ALLOW_NUL, NULL);

	*ret_frame = (struct plugin_frame){.json = o};
	if (!o) {
		*ret_why = "something that is not JSON";
		return -1;
	}
	if (parse_object(o, ret_frame, ret_why) == 0)
		return 0;
	frame_release(ret_frame);
	return -1;
}

void frame_release(struct plugin_frame *f)
{
	json_decref(f->json);
	f->json = NULL;
}

size_t frame_begin(struct buf *b)
{
	size_t start = b->n;

	buf_add(b, "\0\0\0\0", 4);
	return start;
}

void frame_end(struct buf *b, size_t start)
{
	size_t n = b->n - start - 4;
	unsigned char *p = (unsigned char *)b->p + start;

	p[0] = (unsigned char)(n >> 24);
	p[1] = (unsigned char)(n >> 16);
	p[2] = (unsigned char)(n >> 8);
	p[3] = (unsigned char)n;
}
