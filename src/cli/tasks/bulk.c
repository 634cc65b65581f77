/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bulk submission. Lines gather into chunks; the first one brings the batch, the others follow with
 * ?batch=. One chunk is under way while the next gathers: never two, so that tasks get into the
 * queue in the order of their lines. Each chunk keeps its idempotency key over all its tries, so a
 * broken connection never submits twice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/frame/interrupt.h"
#include "cli/output/output.h"
#include "cli/tasks/work.h"

#define CHUNK_LINES 50000
#define CHUNK_LINES_ATOMIC 100000
#define CHUNK_BYTES (32u << 20)
#define PUMP_LINES 1000
#define ERRORS_KEPT 100
#define PATIENCE_MS 60000

struct chunk {
	struct buf body;
	int64_t first_line, lines;
	char key[33];
	struct call *call;
	int tries;
	int64_t begin_ms;
};

struct bulk {
	struct cli *c;
	bool atomic, keep_ids;
	const char *name;       /* of the batch; NULL: none */
	struct chunk now;       /* gathering */
	struct chunk under_way; /* while it has a call */
	int64_t accepted, duplicates, rejected;
	json_t *result;
};

struct bulk *bulk_new(struct cli *c, bool atomic, bool keep_ids)
{
	struct bulk *b = xcalloc(1, sizeof *b);

	b->c = c;
	b->atomic = atomic;
	b->keep_ids = keep_ids;
	b->now.first_line = 1;
	b->result = json_pack("{s:n,s:i,s:i,s:i,s:[],s:[]}", "batch", "accepted", 0, "duplicates",
	    0, "rejected", 0, "ids", "errors");
	MUST(b->result != NULL);
	return b;
}

void bulk_name(struct bulk *b, const char *name)
{
	b->name = name;
}

void bulk_join(struct bulk *b, const char *batch)
{
	json_object_set_new(b->result, "batch", json_string(batch));
}

void bulk_free(struct bulk *b)
{
	if (!b)
		return;
	call_abort(b->under_way.call);
	buf_release(&b->under_way.body);
	buf_release(&b->now.body);
	json_decref(b->result);
	free(b);
}

struct buf *bulk_buffer(struct bulk *b)
{
	return &b->now.body;
}

json_t *bulk_result(const struct bulk *b)
{
	return b->result;
}

static const char *batch_of(const struct bulk *b)
{
	return json_string_value(json_object_get(b->result, "batch"));
}

static void start(struct bulk *b, struct chunk *chunk)
{
	AUTO(buf_release) struct buf path = {0};
	struct request q = {.method = "POST",
	    .body = buf_str(&chunk->body),
	    .content_type = "application/x-ndjson",
	    .key = chunk->key};

	buf_add_cstr(&path, "/v1/tasks");
	if (batch_of(b))
		url_add(&path, "batch", batch_of(b));
	else if (b->name)
		url_add(&path, "batch_name", b->name);
	if (b->atomic)
		url_add(&path, "atomic", "true");
	q.path = path.p;
	chunk->call = client_start(b->c->client, &q);
}

static void add_errors(struct bulk *b, const struct chunk *chunk, const json_t *reply)
{
	json_t *all = json_object_get(b->result, "errors"), *error;
	size_t i;

	json_array_foreach(json_object_get(reply, "errors"), i, error)
	{
		if (json_array_size(all) >= ERRORS_KEPT)
			return;
		json_object_set_new(
		    error, "line", json_integer(ji(error, "line", 1) + chunk->first_line - 1));
		json_array_append(all, error);
	}
}

static void add_reply(struct bulk *b, const struct chunk *chunk, const json_t *reply)
{
	b->accepted += ji(reply, "accepted", 0);
	b->duplicates += ji(reply, "duplicates", 0);
	b->rejected += ji(reply, "rejected", 0);
	if (!batch_of(b) && jhas(reply, "batch"))
		json_object_set(b->result, "batch", json_object_get(reply, "batch"));
	json_object_set_new(b->result, "accepted", json_integer(b->accepted));
	json_object_set_new(b->result, "duplicates", json_integer(b->duplicates));
	json_object_set_new(b->result, "rejected", json_integer(b->rejected));
	if (b->keep_ids)
		json_array_extend(json_object_get(b->result, "ids"), json_object_get(reply, "ids"));
	add_errors(b, chunk, reply);
}

static int take_reply(struct bulk *b, const struct chunk *chunk, const struct reply *reply)
{
	AUTO(json_drop)
	json_t *j = json_loadb(reply->body.p ? reply->body.p : "", reply->body.n, 0, NULL);

	if (!j)
		return problem_set(&b->c->problem, ERR_PROTOCOL, "the server's reply is not JSON");
	add_reply(b, chunk, j);
	return 0;
}

/* A refusal of everything may still name the lines that are to blame. */
static void take_refusal(struct bulk *b, const struct chunk *chunk, const struct reply *reply)
{
	AUTO(json_drop)
	json_t *j = json_loadb(reply->body.p ? reply->body.p : "", reply->body.n, 0, NULL);

	add_errors(b, chunk, j);
	if (json_array_size(json_object_get(b->result, "errors")) > 0)
		problem_hint(&b->c->problem, "correct these lines, and send all of them again");
}

/* A clear word about what is already in, when the rest cannot be sent. */
static int broken(struct bulk *b, const struct chunk *chunk, int r)
{
	if (b->accepted > 0)
		cli_note(b->c,
		    "reeve: %lld tasks were submitted before this, as batch %s; "
		    "the first line that was not is %lld",
		    (long long)b->accepted, batch_of(b) ? batch_of(b) : "?",
		    (long long)chunk->first_line);
	return r;
}

/* Waits for the chunk under way, trying it again as long as that makes sense. */
static int finish_chunk(struct bulk *b)
{
	struct chunk *chunk = &b->under_way;
	int interrupts = interrupt_count();

	for (;;) {
		AUTO(reply_release) struct reply reply = {0};
		int r;

		while (!call_is_done(chunk->call)) {
			client_pump(b->c->client, 1000);
			if (interrupt_count() != interrupts)
				return broken(b, chunk,
				    problem_set(&b->c->problem, ERR_TIMEOUT, "interrupted"));
		}
		r = call_finish(TAKE(chunk->call), &reply, &b->c->problem);
		if (r == 0)
			r = take_reply(b, chunk, &reply);
		else if (client_may_retry(r, &reply) &&
		         clock_mono_ms() - chunk->begin_ms < PATIENCE_MS) {
			client_backoff(b->c->client, chunk->tries++);
			start(b, chunk);
			continue;
		}
		if (r < 0) {
			take_refusal(b, chunk, &reply);
			return broken(b, chunk, r);
		}
		buf_release(&chunk->body);
		return 0;
	}
}

static int send_now(struct bulk *b)
{
	struct chunk *chunk = &b->under_way;
	bool is_first = !batch_of(b);
	int r = 0;

	if (!cli_client(b->c))
		return b->c->problem.code;
	if (chunk->call)
		r = finish_chunk(b);
	if (r < 0)
		return r;
	if (is_first && batch_of(b)) /* more follow, and tasks of it run already */
		cli_note(b->c, "reeve: batch %s has begun", batch_of(b));
	*chunk = b->now;
	idempotency_key(chunk->key);
	chunk->begin_ms = clock_mono_ms();
	start(b, chunk);
	client_pump(b->c->client, 0);
	b->now = (struct chunk){.first_line = chunk->first_line + chunk->lines};
	return 0;
}

int bulk_line(struct bulk *b)
{
	int64_t most = b->atomic ? CHUNK_LINES_ATOMIC : CHUNK_LINES;

	b->now.lines++;
	if (b->under_way.call && b->now.lines % PUMP_LINES == 0)
		client_pump(b->c->client, 0);
	if (b->now.lines >= most || b->now.body.n >= CHUNK_BYTES) {
		if (!b->atomic)
			return send_now(b);
		if (b->now.lines > most || b->now.body.n >= 2 * CHUNK_BYTES - (1u << 20))
			return problem_set(&b->c->problem, ERR_TOO_LARGE,
			    "--atomic takes at most %d tasks and 63 MiB", CHUNK_LINES_ATOMIC);
	}
	return 0;
}

int bulk_finish(struct bulk *b)
{
	int r = 0;

	if (b->now.lines > 0)
		r = send_now(b);
	if (r == 0 && b->under_way.call)
		r = finish_chunk(b);
	return r;
}
