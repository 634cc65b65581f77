/* SPDX-License-Identifier: Apache-2.0 */
/* How the server stands, for people, probes and Prometheus. */
#include "api/insight/metrics.h"
#include "api/objects/show.h"
#include "api/services/services.h"
#include "api/tasks/filter.h"
#include "model/lines.h"

struct totals {
	struct queue_counts tasks;
	int64_t queues;
	int64_t workers[N_WORKER_SHOWN];
	int64_t connected, unsure;
	int64_t used, max; /* max -1: a worker without limit */
	bool narrow;       /* to what a token with limits sees */
	bool by_label;     /* then these come from the store, which tells no delayed ones apart */
};

/* Counting in the store, for tokens with labels. */
struct labelled {
	struct task_filter filter;
	struct status_count *counts;
	size_t n;
};

static void count_queues(const struct call *c, struct totals *t)
{
	const struct core *core = c->host->core;
	const struct queue_row *q = NULL;
	struct queue_counts n;

	while ((q = core_queue(core, core_next(core, KIND_QUEUE, q ? q->id : 0)))) {
		if (!scope_covers_queue(c, q->name))
			continue;
		t->queues++;
		if (t->by_label)
			continue;
		core_queue_counts(core, q->id, &n);
		t->tasks.queued += n.queued;
		t->tasks.delayed += n.delayed;
		t->tasks.held += n.held;
		t->tasks.claimed += n.claimed;
		t->tasks.running += n.running;
	}
}

static void count_labelled(const struct labelled *l, struct totals *t)
{
	for (size_t i = 0; i < l->n; i++) {
		int status = l->counts[i].status;

		if (task_is_held(status))
			t->tasks.held += l->counts[i].n;
		else if (status == TASK_QUEUED)
			t->tasks.queued += l->counts[i].n;
		else if (status == TASK_CLAIMED)
			t->tasks.claimed += l->counts[i].n;
		else if (status == TASK_RUNNING)
			t->tasks.running += l->counts[i].n;
	}
}

static void count_workers(const struct call *c, struct totals *t)
{
	const struct core *core = c->host->core;
	int64_t mono = c->host->mono_ms(c->host->arg);
	struct worker_view w;
	rid id = 0;

	while ((id = core_next(core, KIND_WORKER, id))) {
		if (!core_worker(core, id, mono, &w))
			continue;
		t->workers[w.shown]++;
		t->connected += w.connected;
		t->unsure += w.unsure;
		t->used += w.running;
		if (w.state == WORKER_HEALTHY && w.connected && !w.row->drained)
			t->max = w.maxthreads < 0 || t->max < 0 ? -1 : t->max + w.maxthreads;
	}
	if (t->narrow)
		t->used = t->tasks.claimed + t->tasks.running;
}

static void add_counts(struct buf *b, const struct totals *t)
{
	jw_mi64(b, "queues", t->queues);
	jw_key(b, "workers");
	jw_open(b, '{');
	for (int i = 0; i < N_WORKER_SHOWN; i++)
		jw_mi64(b, worker_shown_names[i], t->workers[i]);
	jw_mi64(b, "connected", t->connected);
	jw_close(b, '}');
	jw_key(b, "tasks");
	jw_open(b, '{');
	jw_mi64(b, "queued", t->tasks.queued);
	jw_mi64_null(b, "delayed", t->tasks.delayed, !t->by_label);
	jw_mi64(b, "held", t->tasks.held);
	jw_mi64(b, "claimed", t->tasks.claimed);
	jw_mi64(b, "running", t->tasks.running);
	jw_mi64_null(b, "unsure", t->unsure, !t->narrow);
	jw_close(b, '}');
	jw_key(b, "threads");
	jw_open(b, '{');
	jw_mi64(b, "used", t->used);
	jw_mi64_null(b, "max", t->max, t->max >= 0);
	jw_close(b, '}');
}

/* Services are nobody's who has a token with limits. */
static void add_services(struct call *c)
{
	jw_key(&c->out, "services");
	if (c->who.limit)
		jw_null(&c->out);
	else
		service_totals(c);
}

/* What the whole cluster has, and how much of it is held; not for tokens with limits. */
static void add_resources(struct call *c)
{
	const struct holding *h;

	jw_key(&c->out, "resources");
	jw_open(&c->out, '[');
	for (size_t i = 0; !c->who.limit && (h = core_resource(c->host->core, i)); i++) {
		jw_open(&c->out, '{');
		jw_mcstr(&c->out, "name", h->name);
		jw_mi64(&c->out, "total", h->total);
		jw_mi64(&c->out, "held", h->used);
		jw_close(&c->out, '}');
	}
	jw_close(&c->out, ']');
}

/* NULL: it takes requests, and what it acknowledges is durable. */
static const char *why_not_ready(const struct call *c)
{
	if (!core_is_open(c->host->core))
		return "the store is being loaded";
	return c->host->not_ready ? c->host->not_ready(c->host->arg) : NULL;
}

static void add_search(struct call *c)
{
	struct search_index i = {0};

	if (c->host->search_index)
		i = c->host->search_index(c->host->arg);
	jw_mstr_null(&c->out, "search_trouble", i.trouble ? str_of(i.trouble) : STR_NULL);
	jw_mi64(&c->out, "search_lag_ms", search_lag_ms(&i, c->host->wall_ms(c->host->arg)));
}

static void add_identity(struct call *c, int64_t now)
{
	const struct api_server_facts *f = &c->api->opt.facts;
	const uint8_t *i = c->host->ids->installation;
	struct buf *b = &c->out;

	jw_mcstr(b, "version", f->version);
	jw_mtime_null(b, "started", f->started_ms);
	jw_mi64(b, "uptime_ms", now - f->started_ms);
	jw_key(b, "installation");
	buf_printf(b, "\"%02x%02x%02x%02x%02x\"", i[0], i[1], i[2], i[3], i[4]);
	jw_key(b, "store");
	jw_open(b, '{');
	jw_mcstr(b, "backend", f->backend);
	jw_mi64(b, "schema", STORE_SCHEMA_VERSION);
	jw_close(b, '}');
	jw_mcstr(b, "dispatch", f->is_volatile ? "volatile" : "durable");
	jw_mbool(b, "ready", !why_not_ready(c));
	jw_mstr_null(b, "not_ready", why_not_ready(c) ? str_of(why_not_ready(c)) : STR_NULL);
	add_search(c);
	jw_mlines(b, "listen", str_of(f->listen));
	jw_mcstr(b, "link", f->link);
	jw_mcstr(b, "url", f->url);
}

static void add_rates(struct call *c, int64_t now)
{
	double submitted, ended;

	jw_key(&c->out, "rates");
	if (c->who.limit) { /* the rates are everybody's */
		jw_null(&c->out);
		return;
	}
	metrics_rates(c->api->metrics, now, &submitted, &ended);
	buf_printf(&c->out, "{\"submitted_per_s\":%.1f,\"ended_per_s\":%.1f}", submitted, ended);
}

static void answer_status(struct call *c, const struct labelled *l)
{
	int64_t now = c->host->wall_ms(c->host->arg);
	struct totals t = {.narrow = c->who.limit != NULL, .by_label = l != NULL};

	count_queues(c, &t);
	if (l)
		count_labelled(l, &t);
	count_workers(c, &t);
	jw_open(&c->out, '{');
	add_identity(c, now);
	add_counts(&c->out, &t);
	add_services(c);
	add_resources(c);
	add_rates(c, now);
	show_worker_set(c);
	show_waiting(c, t.tasks.queued > 0 && t.connected == 0);
	jw_close(&c->out, '}');
	call_json(c, 200);
}

static void count_live(struct store_reader *r, void *arg)
{
	struct call *c = arg;
	struct labelled *l = c->state;

	c->code = store_task_count(r, &l->filter, &c->arena, &l->counts, &l->n);
}

static void live_counted(struct call *c)
{
	if (!call_read_failed(c))
		answer_status(c, c->state);
}

void status_get(struct call *c)
{
	struct labelled *l;

	if (!c->who.limit || !c->who.limit->labels.n) {
		answer_status(c, NULL);
		return;
	}
	l = call_state(c, sizeof *l);
	filter_add_states(&l->filter, live_states);
	scope_narrow(c, &l->filter);
	call_read_long(c, count_live, live_counted);
}

/* A person who types the address into a browser is told where he is, and nothing that is secret. */
void root_get(struct call *c)
{
	call_text(c, 200, "text/plain; charset=utf-8",
	    STR("This is Reeve's HTTP interface. There is no web page yet.\n\n"
	        "  reeve top         what is going on, in a terminal\n"
	        "  /openapi.json     the interface (with a token)\n"
	        "  /metrics          figures for Prometheus (with a token)\n"
	        "  /healthz, /readyz is it alive, does it take requests\n"));
}

void healthz_get(struct call *c)
{
	call_text(c, 200, "text/plain", STR("ok\n"));
}

void readyz_get(struct call *c)
{
	const char *why = why_not_ready(c);

	if (!why) {
		call_text(c, 200, "text/plain", STR("ok\n"));
		return;
	}
	buf_printf(&c->out, "%s\n", why);
	call_text(c, 503, "text/plain", buf_str(&c->out));
}

/* A thousand who ask at once get what was written for the first of them. */
void metrics_get(struct call *c)
{
	struct api *a = c->api;
	struct api_load load = {0};

	if (c->host->load)
		c->host->load(c->host->arg, &load);
	if (!c->host->load || !a->metrics_text.n || load.turns != a->metrics_turn) {
		buf_reset(&a->metrics_text);
		metrics_write(a->metrics, c->host, &a->opt.facts, &a->metrics_text);
		a->metrics_turn = load.turns;
	}
	call_text(c, 200, "text/plain; version=0.0.4; charset=utf-8", buf_str(&a->metrics_text));
}

/* The document cannot change while the process lives. */
void openapi_get(struct call *c)
{
	struct api *a = c->api;

	if (!a->openapi.n)
		api_openapi(&a->openapi);
	call_kept(c, 200, "application/json", buf_str(&a->openapi));
}
