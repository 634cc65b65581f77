/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The language spoken with persistent plugins: four bytes of length (big endian), then a JSON
 * object. Whatever a plugin writes is checked here; docs/PLUGINS.md is the reference.
 */
#ifndef WORKER_FRAMES_H
#define WORKER_FRAMES_H

#include <jansson.h>

#include "base/str.h"
#include "model/id.h"
#include "model/task/task.h"

#define PLUGIN_FRAME_MAX (1u << 20)
#define PLUGIN_CONCURRENCY_MAX 1024

enum plugin_frame_kind { FRAME_HELLO, FRAME_REPLY, FRAME_OUTPUT };

struct plugin_frame {
	enum plugin_frame_kind kind;
	json_t *json; /* owns the strings */
	/* hello */
	int concurrency;
	bool can_cancel;
	/* reply and output: who */
	struct str id;
	int64_t token; /* 0: not given */
	/* reply */
	int status;
	struct str output[N_STREAMS], reason;
	/* output */
	int stream;
	struct str data;
};

/*
 * The next whole frame of what was read, from *at on. 1: ret_payload is set and *at is behind it;
 * 0: more bytes are needed; -1: the length is no good (why: for people).
 */
int frame_take(struct str read, size_t *at, struct str *ret_payload, const char **ret_why);
/* 0, or -1 with the reason. The frame must be released when 0 was returned. */
int frame_parse(struct str payload, struct plugin_frame *ret_frame, const char **ret_why);
void frame_release(struct plugin_frame *f);
/* Appends a length in front of what was added since `start`. */
size_t frame_begin(struct buf *b);
void frame_end(struct buf *b, size_t start);

#endif
