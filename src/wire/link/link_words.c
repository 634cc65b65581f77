/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/link/link_words.h"

#include "base/data/vclock.h"
#include "service/life/container.h"

_Static_assert(VCLOCK_BYTES_MAX <= LINK_CLOCK_MAX, "a trace's clock fits into a frame");

#define LISTED 16 /* of each kind in one frame */

/* A text under construction: parts are separated, members of a part are counted. */
struct words {
	struct buf *out;
	const struct id_space *ids;
	bool begun;
};

static void part(struct words *w, const char *kind)
{
	if (w->begun)
		buf_add_cstr(w->out, "; ");
	w->begun = true;
	buf_add_cstr(w->out, kind);
}

static void attempt(struct words *w, rid task, int64_t token)
{
	char id[ID_TEXT];

	buf_add_char(w->out, ' ');
	buf_add_cstr(w->out, id_format(w->ids, task, id));
	buf_add_char(w->out, '/');
	buf_add_i64(w->out, token);
}

/* True: this one is named. False: it is the first of those that are only counted, or later. */
static bool listed(struct words *w, size_t i, size_t n)
{
	if (i == LISTED)
		buf_printf(w->out, " and %zu more", n - LISTED);
	return i < LISTED;
}

/* For parts whose members are attempts and nothing else. */
#define ATTEMPTS(w, kind, items, n)                                         \
	do {                                                                \
		if ((n) > 0)                                                \
			part((w), (kind));                                  \
		for (size_t i_ = 0; i_ < (n) && listed((w), i_, (n)); i_++) \
			attempt((w), (items)[i_].task, (items)[i_].token);  \
	} while (0)

static void refs(struct words *w, const struct link_held *r, size_t n)
{
	for (size_t i = 0; i < n && listed(w, i, n); i++) {
		attempt(w, r[i].task, r[i].token);
		if (r[i].ended)
			buf_add_cstr(w->out, " (ended)");
	}
}

static void put_checked(struct words *w, const struct link_checked *c)
{
	part(w, "checked ");
	buf_add_u64(w->out, c->number);
	buf_add_cstr(w->out, c->ok ? " ok" : " failed: ");
	if (!c->ok)
		buf_add_str(w->out, c->reason);
}

static void put_notified(struct words *w, const struct link_notified *n)
{
	part(w, "notified ");
	buf_add_u64(w->out, n->seq);
	if (n->n_held)
		buf_add_cstr(w->out, " held");
	refs(w, n->held, n->n_held);
	if (n->n_absent)
		buf_add_cstr(w->out, " absent");
	refs(w, n->absent, n->n_absent);
}

static void put_health(struct words *w, const struct link_health *h)
{
	part(w, "health");
	attempt(w, h->task, h->token);
	buf_printf(w->out, " %s%s", container_state_names[h->fares.container],
	    h->fares.is_ready ? ", ready" : "");
}

static void put_ended(struct words *w, const struct link_ended *e)
{
	attempt(w, e->task, e->token);
	buf_add_char(w->out, ' ');
	buf_add_cstr(w->out, e->started_ms ? task_state_name(e->status) : "never started");
}

void link_words_to_server(
    const struct link_to_server *m, const struct id_space *ids, struct buf *out)
{
	struct words w = {out, ids, false};

	if (m->hello) {
		part(&w, m->hello->n_tasks ? "hello, holds" : "hello, holds nothing");
		refs(&w, m->hello->tasks, m->hello->n_tasks);
	}
	for (size_t i = 0; i < m->n_checked && listed(&w, i, m->n_checked); i++)
		put_checked(&w, &m->checked[i]);
	if (m->has_beat) {
		part(&w, "beat ");
		buf_printf(out, "%llu (%s%s)", (unsigned long long)m->beat.number,
		    worker_state_names[m->beat.own], m->beat.leaving ? ", leaving" : "");
	}
	for (size_t i = 0; i < m->n_notified && listed(&w, i, m->n_notified); i++)
		put_notified(&w, &m->notified[i]);
	ATTEMPTS(&w, "started", m->started, m->n_started);
	for (size_t i = 0; i < m->n_health && listed(&w, i, m->n_health); i++)
		put_health(&w, &m->health[i]);
	ATTEMPTS(&w, "input-ack", m->input_ack, m->n_input_ack);
	ATTEMPTS(&w, "output", m->output, m->n_output);
	if (m->n_ended)
		part(&w, "ended");
	for (size_t i = 0; i < m->n_ended && listed(&w, i, m->n_ended); i++)
		put_ended(&w, &m->ended[i]);
}

static void put_news(struct words *w, const struct link_news *n)
{
	buf_printf(w->out, " (%s, set %llu, check %llu)", worker_state_names[n->state],
	    (unsigned long long)n->set.version, (unsigned long long)n->check);
}

static void put_refused(struct words *w, const struct link_refused *r)
{
	part(w, r->die ? "refused, must die" : "refused");
	if (r->restart)
		buf_add_cstr(w->out, ", may come back");
	buf_add_cstr(w->out, ": ");
	buf_add_str(w->out, r->reason);
}

static void put_settings(struct words *w, const struct link_settings *s)
{
	part(w, "settings: maxthreads ");
	buf_add_i64(w->out, s->maxthreads);
	if (s->leave)
		buf_add_cstr(w->out, s->restart ? ", leave and come back" : ", leave");
}

static void put_notify(struct words *w, const struct link_notify *n)
{
	part(w, "notify ");
	buf_add_u64(w->out, n->seq);
	for (size_t i = 0; i < n->n_refs && listed(w, i, n->n_refs); i++)
		attempt(w, n->refs[i].task, n->refs[i].token);
}

static void put_answers(struct words *w, const struct link_to_worker *m)
{
	if (m->welcome) {
		part(w, "welcome");
		put_news(w, &m->welcome->news);
	}
	if (m->refused)
		put_refused(w, m->refused);
	if (m->has_settings)
		put_settings(w, &m->settings);
	if (m->has_beat_ack) {
		part(w, m->beat_ack.number ? "beat-ack " : "news");
		if (m->beat_ack.number)
			buf_add_u64(w->out, m->beat_ack.number);
		put_news(w, &m->beat_ack.news);
	}
}

void link_words_to_worker(
    const struct link_to_worker *m, const struct id_space *ids, struct buf *out)
{
	struct words w = {out, m->welcome ? &m->welcome->ids : ids, false};

	put_answers(&w, m);
	ATTEMPTS(&w, "ended-ack", m->ended_ack, m->n_ended_ack);
	ATTEMPTS(&w, "output-ack", m->output_ack, m->n_output_ack);
	ATTEMPTS(&w, "input", m->input, m->n_input);
	ATTEMPTS(&w, "run", m->run, m->n_run);
	ATTEMPTS(&w, "kill", m->kill, m->n_kill);
	ATTEMPTS(&w, "follow", m->follow, m->n_follow);
	for (size_t i = 0; i < m->n_notify && listed(&w, i, m->n_notify); i++)
		put_notify(&w, &m->notify[i]);
	if (m->has_check) {
		part(&w, "check ");
		buf_add_u64(out, m->check.number);
	}
}
