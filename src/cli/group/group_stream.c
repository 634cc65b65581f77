/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/group/group_stream.h"

#include <string.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/group/group.h"
#include "cli/nouns/noun.h"

#define PATIENCE_MS 60000
#define FIRST_TRIES 3

static void apply(struct group_stream *s, const json_t *changes)
{
	int r = live_apply(&s->live, changes, s->on_job, s->arg, &s->c->problem);

	s->result = r < 0 ? r : s->result;
}

static void take(const char *kind, const char *data, void *arg)
{
	struct group_stream *s = arg;
	AUTO(json_drop) json_t *value = json_loads(data, JSON_DECODE_ANY, NULL);

	if (!value || s->result < 0 || s->is_over)
		return;
	s->is_begun = true;
	if (!strcmp(kind, "end"))
		s->is_over = s->is_loaded;
	else if (!strcmp(kind, "group") && s->is_loaded)
		live_set_group(&s->live, value);
	else if (!strcmp(kind, "jobs") && s->is_loaded)
		apply(s, value);
	else if (!strcmp(kind, "jobs"))
		json_array_extend(s->early, value);
	if (s->on_event)
		s->on_event(s, kind, value);
}

static void on_bytes(struct str bytes, void *arg)
{
	sse_feed(&((struct group_stream *)arg)->sse, bytes);
}

/* The graph is asked for when the stream has begun, so that nothing is missed between them. */
static void load(struct group_stream *s)
{
	struct live l = {0};
	int r = group_get_live(s->c, s->group, &l);

	if (r < 0) {
		s->result = r;
		return;
	}
	live_release(&s->live);
	s->live = l;
	s->is_loaded = true;
	if (s->on_load)
		s->on_load(s);
	apply(s, s->early);
	json_array_clear(s->early);
	if (group_is_ended(group_state_of(js(s->live.group, "state"))))
		s->is_over = true;
}

static void begin(struct group_stream *s)
{
	AUTO(buf_release) struct buf url = {0};
	int r = noun_path(s->c, &group_noun, s->group, "stream", &url);
	struct request q = {.method = "GET",
	    .path = url.p,
	    .accept = "text/event-stream",
	    .on_data = on_bytes,
	    .arg = s};

	if (r < 0) {
		s->result = r;
		return;
	}
	if (!s->early)
		s->early = json_array();
	json_array_clear(s->early);
	s->sse.fn = take;
	s->sse.arg = s;
	sse_reset(&s->sse);
	s->is_loaded = s->is_begun = false;
	s->call = client_start(s->c->client, &q);
}

static void ended(struct group_stream *s)
{
	AUTO(reply_release) struct reply reply = {0};
	int64_t now = clock_mono_ms();
	int r = call_finish(TAKE(s->call), &reply, &s->c->problem);

	if (s->is_begun)
		s->tries = 0, s->failing_since_ms = 0;
	else if (!s->failing_since_ms)
		s->failing_since_ms = now;
	s->retry_at_ms = now + (100ll << (s->tries < 4 ? s->tries : 4));
	s->tries++;
	if (r >= 0)
		return;
	if (!client_may_retry(r, &reply) || (!s->live.group && s->tries > FIRST_TRIES) ||
	    (s->failing_since_ms && now - s->failing_since_ms > PATIENCE_MS))
		s->result = r;
}

bool group_stream_step(struct group_stream *s)
{
	if (s->is_begun && !s->is_loaded && !s->is_over && s->result >= 0)
		load(s);
	if (s->is_over || s->result < 0)
		return false;
	if (s->call && call_is_done(s->call))
		ended(s);
	if (s->result >= 0 && !s->call && clock_mono_ms() >= s->retry_at_ms)
		begin(s);
	return s->result >= 0;
}

void group_stream_release(struct group_stream *s)
{
	call_abort(s->call);
	json_decref(s->early);
	sse_release(&s->sse);
	live_release(&s->live);
}
