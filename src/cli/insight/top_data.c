/* SPDX-License-Identifier: Apache-2.0 */
/* What top knows: asked for in one go, without ever waiting, and the figures of the last looks. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/insight/top.h"

#define ROWS_MAX 20000 /* of queues, of services, of workers: more are not looked at */

static const char *const paths[N_PANELS + 1] = {
    [PANEL_QUEUES] = "/v1/queues?limit=1000",
    [PANEL_SERVICES] = "/v1/services?limit=1000",
    [PANEL_WORKERS] = "/v1/workers?limit=1000",
    [PANEL_TASKS] = "/v1/tasks?state=running,claimed&full=true&limit=100",
    [N_PANELS] = "/v1/status",
};

static void trend_add(struct trend *s, double v)
{
	if (s->n == SAMPLES)
		memmove(s->v, s->v + 1, --s->n * sizeof s->v[0]);
	s->v[s->n++] = v;
}

void trend_line(const struct trend *s, size_t width, bool utf8, struct buf *out)
{
	static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char ascii[] = "_.-:=+*#";
	size_t from = s->n > width ? s->n - width : 0;
	double most = 0;

	for (size_t i = from; i < s->n; i++)
		most = s->v[i] > most ? s->v[i] : most;
	for (size_t i = from; i < s->n; i++) {
		size_t level = most > 0 ? (size_t)(s->v[i] / most * 7 + 0.5) : 0;

		if (utf8)
			buf_add_cstr(out, blocks[level > 7 ? 7 : level]);
		else
			buf_add_char(out, ascii[level > 7 ? 7 : level]);
	}
}

bool top_data_has(const struct top_data *d, enum top_panel p)
{
	return p != PANEL_SERVICES || ji(json_object_get(d->status, "services"), "total", 0) > 0;
}

void top_data_begin(struct top_data *d)
{
	d->began_ms = clock_mono_ms();
	d->is_busy = true;
	d->is_final = false;
	d->result = 0;
	for (size_t i = 0; i <= N_PANELS; i++)
		d->calls[i] = !top_data_has(d, i)
		                  ? NULL
		                  : client_start(d->c->client,
		                        &(struct request){.method = "GET", .path = paths[i]});
}

bool top_data_is_busy(const struct top_data *d)
{
	return d->is_busy;
}

/* Queues keep their order from look to look, so that the next one is mostly the next one. */
static struct queue_depth *depth_of(struct top_data *d, const char *name, size_t *hint)
{
	for (size_t i = 0; i < d->n_depths; i++) {
		struct queue_depth *q = &d->depths[(*hint + i) % d->n_depths];

		if (!strcmp(q->name, name)) {
			*hint = (*hint + i + 1) % d->n_depths;
			return q;
		}
	}
	GROW(d->depths, d->cap_depths, d->n_depths + 1);
	d->depths[d->n_depths] = (struct queue_depth){.name = xstrdup(name)};
	return &d->depths[d->n_depths++];
}

static void forget_unseen(struct top_data *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->n_depths; i++) {
		if (d->depths[i].seen)
			d->depths[kept++] = d->depths[i];
		else
			free(d->depths[i].name);
	}
	d->n_depths = kept;
}

static void remember(struct top_data *d)
{
	const json_t *rates = json_object_get(d->status, "rates");
	json_t *queue;
	size_t i, hint = 0;

	trend_add(&d->submitted, json_number_value(json_object_get(rates, "submitted_per_s")));
	trend_add(&d->ended, json_number_value(json_object_get(rates, "ended_per_s")));
	for (i = 0; i < d->n_depths; i++)
		d->depths[i].seen = false;
	json_array_foreach(json_object_get(d->lists[PANEL_QUEUES], "items"), i, queue)
	{
		struct queue_depth *q = depth_of(d, js(queue, "name"), &hint);

		q->seen = true;
		trend_add(&q->waiting, (double)ji(json_object_get(queue, "counts"), "queued", 0));
	}
	forget_unseen(d);
}

const struct trend *top_data_depth(const struct top_data *d, const char *queue)
{
	for (size_t i = 0; i < d->n_depths; i++)
		if (!strcmp(d->depths[i].name, queue))
			return &d->depths[i].waiting;
	return NULL;
}

/* Takes the answer, or says why there is none. */
static int take(struct top_data *d, size_t i, json_t **ret_json)
{
	AUTO(reply_release) struct reply reply = {0};
	int r = call_finish(TAKE(d->calls[i]), &reply, &d->c->problem);

	d->is_final |= r < 0 && !client_may_retry(r, &reply) && r != ERR_TIMEOUT;
	if (r < 0)
		return r;
	*ret_json = json_loadb(reply.body.p ? reply.body.p : "", reply.body.n, 0, NULL);
	return json_is_object(*ret_json)
	           ? 0
	           : problem_set(&d->c->problem, ERR_PROTOCOL, "the server's reply is not JSON");
}

static void put(json_t **place, json_t *value)
{
	json_decref(*place);
	*place = value;
}

/* Joins a page with those before it. */
static void add_page(json_t **found, json_t *page)
{
	if (!*found) {
		*found = page;
		return;
	}
	json_array_extend(json_object_get(*found, "items"), json_object_get(page, "items"));
	json_object_set(*found, "next", json_object_get(page, "next"));
	json_decref(page);
}

/* A page is short when its items are long: of tasks the first are wanted, of all else
 * everything. */
static bool ask_for_more(struct top_data *d, size_t i)
{
	AUTO(buf_release) struct buf path = {0};
	const char *next = js(d->found[i], "next");
	size_t n = json_array_size(json_object_get(d->found[i], "items"));

	if (i >= PANEL_TASKS || !*next || n >= ROWS_MAX)
		return false;
	buf_add_cstr(&path, paths[i]);
	url_add(&path, "cursor", next);
	d->calls[i] =
	    client_start(d->c->client, &(struct request){.method = "GET", .path = path.p});
	return true;
}

/* Whether nothing more comes of this one. */
static bool step_one(struct top_data *d, size_t i)
{
	json_t *page = NULL;
	int r;

	if (!d->calls[i])
		return true;
	if (!call_is_done(d->calls[i]))
		return false;
	r = take(d, i, &page);
	if (r < 0) {
		d->result = r;
		json_decref(page);
		return true;
	}
	add_page(&d->found[i], page);
	return !ask_for_more(d, i);
}

static void drop_found(struct top_data *d)
{
	for (size_t i = 0; i <= N_PANELS; i++)
		put(&d->found[i], NULL);
}

bool top_data_step(struct top_data *d)
{
	bool is_over = true;

	for (size_t i = 0; i <= N_PANELS; i++)
		is_over &= step_one(d, i);
	if (!is_over)
		return false;
	d->is_busy = false;
	d->took_ms = clock_mono_ms() - d->began_ms;
	if (d->result < 0) {
		drop_found(d);
		if (!d->away_since_ms)
			d->away_since_ms = clock_mono_ms();
		return true;
	}
	d->away_since_ms = 0;
	for (size_t i = 0; i < N_PANELS; i++)
		put(&d->lists[i], TAKE(d->found[i]));
	put(&d->status, TAKE(d->found[N_PANELS]));
	remember(d);
	return true;
}

void top_data_release(struct top_data *d)
{
	for (size_t i = 0; i <= N_PANELS; i++)
		call_abort(d->calls[i]);
	drop_found(d);
	for (size_t i = 0; i < N_PANELS; i++)
		json_decref(d->lists[i]);
	json_decref(d->status);
	for (size_t i = 0; i < d->n_depths; i++)
		free(d->depths[i].name);
	free(d->depths);
}
