/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a call: made, waiting for the host, answered exactly once, kept for reuse. */
#include "api/frame/call.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/insight/metrics.h"
#include "wire/json/json_in.h"
#include "words/words.h"

/* Under the address sanitizer none is kept, so that a use after the answer is found. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define SPARE_CALLS 0
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define SPARE_CALLS 0
#endif
#ifndef SPARE_CALLS
#define SPARE_CALLS 256
#endif
#define IDEM_MARK 1             /* key_ok() lets no control character pass */
#define SPARE_BYTES (64u << 10) /* what is kept for the next call, of each kind */

struct call *call_new(struct api *a, const struct api_request *r)
{
	struct call *c = TAILQ_FIRST(&a->spare);
	struct api_param *params;

	if (c) {
		TAILQ_REMOVE(&a->spare, c, link);
		a->n_spare--;
	} else {
		c = xcalloc(1, sizeof *c);
	}
	c->api = a;
	c->host = &a->host;
	c->req = *r;
	params = arena_memdup(&c->arena, r->params, r->n_params * sizeof *params);
	c->req.params = params;
	TAILQ_INSERT_TAIL(&a->calls, c, link);
	return c;
}

static void call_free(struct call *c)
{
	if (c->on_free)
		c->on_free(c);
	parse_release(c);
	arena_release(&c->row_arena);
	arena_release(&c->arena);
	buf_release(&c->out);
	free(c);
}

static void recycle(struct call *c)
{
	struct api *a = c->api;
	struct arena arena;
	struct buf out = c->out;

	TAILQ_REMOVE(&a->calls, c, link);
	if (c->on_free)
		c->on_free(c);
	parse_release(c);
	arena_release(&c->row_arena);
	arena = c->arena;
	if (arena.total > SPARE_BYTES)
		arena_release(&arena);
	else
		arena_reset(&arena);
	if (out.cap > SPARE_BYTES)
		buf_release(&out);
	buf_reset(&out);
	*c = (struct call){.arena = arena, .out = out};
	if (a->n_spare + 1 > SPARE_CALLS) {
		call_free(c);
		return;
	}
	a->n_spare++;
	TAILQ_INSERT_HEAD(&a->spare, c, link);
}

void calls_free(struct api *a)
{
	struct call *c;

	while ((c = TAILQ_FIRST(&a->calls))) {
		TAILQ_REMOVE(&a->calls, c, link);
		if (!c->over && c->on_over)
			c->on_over(c);
		if (c->expiry)
			c->host->cancel_timer(c->host->arg, c->expiry);
		call_free(c);
	}
	while ((c = TAILQ_FIRST(&a->spare))) {
		TAILQ_REMOVE(&a->spare, c, link);
		call_free(c);
	}
}

/* No more answering; the call itself goes once the host owes it nothing. */
static void call_over(struct call *c)
{
	call_fn *fn = c->on_over;

	if (c->expiry)
		c->host->cancel_timer(c->host->arg, c->expiry);
	c->expiry = NULL;
	c->over = true;
	c->on_over = NULL;
	if (fn)
		fn(c);
	if (c->pending == 0)
		recycle(c);
}

static void client_gone(void *arg)
{
	struct call *c = arg;

	if (!c->over)
		call_over(c);
}

static void count_answer(struct call *c, int status)
{
	c->status = status;
	if (!c->is_own)
		metrics_answer(c->api->metrics, route_number(c->route), status);
}

static void answer(struct call *c, int status)
{
	MUST(!c->over);
	count_answer(c, status);
	c->host->io->on_close(c->req.io, NULL, NULL);
}

void call_text(struct call *c, int status, const char *type, struct str body)
{
	answer(c, status);
	c->host->io->reply(c->req.io, status, type, body);
	call_over(c);
}

void call_kept(struct call *c, int status, const char *type, struct str body)
{
	answer(c, status);
	c->host->io->reply_kept(c->req.io, status, type, body);
	call_over(c);
}

void call_json(struct call *c, int status)
{
	call_text(c, status, "application/json", buf_str(&c->out));
}

void call_empty(struct call *c, int status)
{
	call_text(c, status, NULL, STR(""));
}

void call_stream_start(struct call *c, const char *type)
{
	count_answer(c, 200);
	c->streaming = true;
	c->host->io->stream_start(c->req.io, 200, type);
}

void call_stream_end(struct call *c)
{
	const struct api_io *io = c->host->io;

	io->on_close(c->req.io, NULL, NULL);
	io->stream_end(c->req.io);
	call_over(c);
}

void call_header(struct call *c, const char *name, const char *value)
{
	c->host->io->header(c->req.io, name, value);
}

void problem_write(struct buf *b, const struct problem *p)
{
	jw_open(b, '{');
	jw_key(b, "type");
	buf_printf(b, "\"urn:reeve:error:%s\"", err_name(p->code));
	jw_mcstr(b, "title", err_title(p->code));
	jw_mi64(b, "status", err_http_status(p->code));
	jw_mcstr(b, "detail", p->what);
	if (p->hint[0])
		jw_mcstr(b, "hint", p->hint);
	if (p->field[0])
		jw_mcstr(b, "field", p->field);
}

void call_problem(struct call *c)
{
	int status = err_http_status(c->problem.code);

	buf_reset(&c->out);
	problem_write(&c->out, &c->problem);
	jw_close(&c->out, '}');
	if (status == 503)
		call_header(c, "Retry-After", "1");
	call_text(c, status, PROBLEM_TYPE, buf_str(&c->out));
}

void call_fail(struct call *c, int code, const char *what)
{
	problem_set(&c->problem, code, "%s", what);
	call_problem(c);
}

/* One of the quoted versions in an If-Match or If-None-Match header. */
static bool etags_have(struct str header, int64_t version)
{
	char wanted[32];
	struct str part;

	snprintf(wanted, sizeof wanted, "\"%lld\"", (long long)version);
	while (str_next(&header, ',', &part)) {
		while (part.n && part.p[0] == ' ')
			part.p++, part.n--;
		while (part.n && part.p[part.n - 1] == ' ')
			part.n--;
		if (str_is(part, "*") || str_is(part, wanted))
			return true;
		if (str_starts(part, "W/") && str_is((struct str){part.p + 2, part.n - 2}, wanted))
			return true;
	}
	return false;
}

bool call_etag(struct call *c, int64_t version)
{
	char tag[32];

	snprintf(tag, sizeof tag, "\"%lld\"", (long long)version);
	call_header(c, "ETag", tag);
	if (c->req.method != API_GET || !c->req.if_none_match.p ||
	    !etags_have(c->req.if_none_match, version))
		return false;
	call_empty(c, 304);
	return true;
}

int64_t call_if_match(struct call *c, int64_t version)
{
	if (!c->req.if_match.p || str_is(c->req.if_match, "*"))
		return 0;
	if (etags_have(c->req.if_match, version))
		return version;
	problem_set(&c->problem, ERR_PRECONDITION, "it is at version %lld now", (long long)version);
	problem_hint(&c->problem, "read it again and repeat the change on what is there now");
	call_problem(c);
	return -1;
}

static void command_done(const struct reply *r, void *arg)
{
	struct call *c = arg;

	c->pending--;
	if (!c->over) {
		c->on_reply(c, r);
		return;
	}
	if (c->on_late)
		c->on_late(c, r);
	else if (c->pending == 0)
		recycle(c);
}

/*
 * The key under which the answer is kept: everyone has his own, so that nobody is told what
 * another's request did, nor gets in its way. No header holds the byte that sets them apart.
 */
static struct str idem_key_of(struct call *c)
{
	if (!c->who.token)
		return c->req.idempotency_key;
	return arena_strf(&c->arena, "%c%016" PRIx64 "%c" STR_FMT, IDEM_MARK, c->who.token,
	    IDEM_MARK, STR_ARG(c->req.idempotency_key));
}

void call_command(struct call *c, struct event *ev, call_reply_fn *fn)
{
	if (access_is_over(c))
		return;
	ev->actor = call_actor(c);
	if (c->req.method == API_POST && c->req.idempotency_key.p && !c->no_idem) {
		ev->idem_key = idem_key_of(c);
		ev->idem_fingerprint = call_fingerprint(c);
	}
	c->on_reply = fn;
	c->pending++;
	c->host->command(c->host->arg, ev, command_done, c);
}

static void is_durable(struct call *c, const struct reply *r)
{
	if (r->code)
		call_fail(c, r->code,
		    "what is to be told is not durable yet: the store cannot be written at the "
		    "moment");
	else
		c->when_durable(c);
}

void call_when_durable(struct call *c, uint64_t batch, call_fn *fn)
{
	c->on_reply = is_durable;
	c->when_durable = fn;
	c->pending++;
	if (c->host->when_durable(c->host->arg, batch, command_done, c))
		return;
	c->pending--;
	fn(c);
}

void call_hold(struct call *c)
{
	c->pending++;
}

void call_unhold(struct call *c)
{
	c->pending--;
	if (c->over && c->pending == 0)
		recycle(c);
}

static void read_done(void *arg)
{
	struct call *c = arg;

	c->pending--;
	if (c->over && c->pending == 0)
		recycle(c);
	else if (!c->over && !access_is_over(c))
		c->on_read(c);
}

static void start_read(
    struct call *c, bool is_long, void (*work)(struct store_reader *r, void *call), call_fn *fn)
{
	c->on_read = fn;
	c->pending++;
	c->host->read(c->host->arg, is_long, work, read_done, c);
}

void call_read(struct call *c, void (*work)(struct store_reader *r, void *call), call_fn *fn)
{
	start_read(c, false, work, fn);
}

void call_read_long(struct call *c, void (*work)(struct store_reader *r, void *call), call_fn *fn)
{
	start_read(c, true, work, fn);
}

void *call_state(struct call *c, size_t size)
{
	return c->state = arena_zalloc(&c->arena, size);
}

bool call_refused(struct call *c, const struct reply *r)
{
	if (r->replayed)
		call_header(c, "Idempotent-Replay", "true");
	if (r->code == 0)
		return false;
	if (r->problem)
		c->problem = *r->problem;
	else
		problem_set(&c->problem, r->code, "%s", err_title(r->code));
	if (r->hint)
		words_hint(r->hint, &c->problem);
	call_problem(c);
	return true;
}

static void read_task(struct store_reader *r, void *arg)
{
	struct call *c = arg;

	arena_reset(&c->row_arena);
	c->code = store_task_get(r, c->about, &c->row_arena, &c->row);
}

static void task_read(struct call *c)
{
	c->hidden = c->code == 0 && !scope_covers(c, c->row.spec.queue, c->row.spec.labels);
	if (c->hidden)
		c->code = ERR_NOT_FOUND;
	c->on_task(c);
}

void call_read_task(struct call *c, call_fn *fn)
{
	c->on_task = fn;
	call_read(c, read_task, task_read);
}

int read_bare_task(struct store_reader *r, rid id, struct arena *a, struct task_row *ret)
{
	struct task_filter one = {.since = id, .until = id + 1};
	struct task_page found = {0};
	int rc = store_task_list(r, &one, true, true, 0, 1, a, &found);

	if (!rc && found.n)
		*ret = found.rows[0];
	return rc;
}

bool call_read_failed(struct call *c)
{
	char text[ID_TEXT];

	if (c->code == 0)
		return false;
	if (c->code == ERR_NOT_FOUND) {
		problem_set(&c->problem, ERR_NOT_FOUND, "there is no task %s",
		    id_format(c->host->ids, c->about, text));
		problem_hint(&c->problem,
		    "reeve task ls shows the tasks; ended ones are pruned after a while");
	} else {
		problem_set(&c->problem, c->code, "the store could not be read");
		problem_hint(&c->problem, "it may be damaged in the store: `reeve store check` "
		                          "names what is, and the server's log may say more");
	}
	call_problem(c);
	return true;
}

static void client_gone_hook(struct call *c)
{
	c->host->io->on_close(c->req.io, client_gone, c);
}

void api_handle(struct api *a, const struct api_request *r)
{
	struct call *c = call_new(a, r);

	client_gone_hook(c);
	api_dispatch(c);
}
