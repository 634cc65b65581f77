/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /v1/groups/{group}/stream: what happens to a group and its jobs, as server-sent events. It
 * begins with the group as it is, and ends when that has ended. Changes are told as the state that
 * a job has come to, so hearing one twice does no harm: whoever looks at the graph after the stream
 * has begun misses nothing.
 */
#include <string.h>

#include "api/groups/group_jobs.h"
#include "api/insight/subscriber.h"

struct follower {
	struct subscriber subscriber;
	struct group_of_call g;
	bool is_open;    /* a list of changes, in the text */
	bool is_changed; /* the group's own object */
	bool has_ended;  /* durably */
};

static void begin_event(struct subscriber *s, const char *kind)
{
	buf_printf(&s->text, "id: %llu\nevent: %s\ndata: ", (unsigned long long)s->last_seq, kind);
}

static void tell_job(struct follower *f, const struct notice *n)
{
	const struct task_state t = {.status = n->status, .wish = n->wish};
	struct buf *b = &f->subscriber.text;
	enum job_state state = job_state((enum group_state)f->g.state, &t);

	if (!f->is_open)
		begin_event(&f->subscriber, "jobs");
	buf_printf(b, "%s[%u,\"%c\",%lld]", f->is_open ? "," : "[", job_number(&f->g, n->task),
	    job_letters[state], (long long)n->time_ms);
	f->is_open = true;
	f->is_changed |= task_is_ended(n->status);
}

static bool is_end(const char *kind)
{
	return strcmp(kind, "group.complete") == 0 || strcmp(kind, "group.failed") == 0 ||
	       strcmp(kind, "group.canceled") == 0;
}

static void tell(struct subscriber *s, const struct notice *n)
{
	struct follower *f = (struct follower *)s;

	if (n->task > f->g.id && n->task <= f->g.id + f->g.n_jobs)
		tell_job(f, n);
	if (n->owner.kind != KIND_GROUP || n->owner.id != f->g.id)
		return;
	f->is_changed = true;
	f->has_ended |= is_end(n->kind);
}

static void add_object(struct subscriber *s, const char *kind, const struct group_row *row)
{
	struct buf json = {0};

	begin_event(s, kind);
	show_group(&json, s->c->api, row);
	buf_add_str(&s->text, buf_str(&json));
	buf_add_cstr(&s->text, "\n\n");
	buf_release(&json);
}

/* The brain may know of its end before that is durable: then its notice is still to come. */
static void tell_group(struct subscriber *s)
{
	struct follower *f = (struct follower *)s;
	struct group_view v;

	if (!core_group(s->c->host->core, f->g.id, &v)) {
		s->is_over = true; /* deleted */
		return;
	}
	if (group_is_ended(v.row->state) && !f->has_ended)
		return;
	f->g.state = v.row->state;
	add_object(s, "group", v.row);
	if (f->has_ended)
		add_object(s, "end", v.row);
	s->is_over = f->has_ended;
}

static void told(struct subscriber *s)
{
	struct follower *f = (struct follower *)s;

	if (f->is_open)
		buf_add_cstr(&s->text, "]\n\n");
	f->is_open = false;
	if (f->is_changed && !s->more)
		tell_group(s);
	f->is_changed &= s->more;
}

/* A client that comes again is told how it stands then. */
static void gap(struct subscriber *s, uint64_t after)
{
	s->is_over = true;
}

static const struct subscription group_subscription = {tell_group, tell, told, gap};

void group_stream(struct call *c)
{
	struct follower *f = call_state(c, sizeof *f);
	const struct group_row *g = path_group(c);

	if (!g)
		return;
	f->g =
	    (struct group_of_call){.id = g->id, .state = g->state, .n_jobs = (uint32_t)g->n_jobs};
	f->has_ended = group_is_ended(g->state);
	subscriber_begin(&f->subscriber, c, &group_subscription);
}
