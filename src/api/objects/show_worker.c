/* SPDX-License-Identifier: Apache-2.0 */
/* A worker as JSON: who it is, how it stands, and in words why it gets no tasks. */
#include "api/objects/show.h"

#include "api/frame/fields_out.h"
#include "base/timefmt.h"
#include "core/service/view.h"
#include "model/lines.h"

static struct str why_check(const struct worker_view *w, struct arena *a)
{
	char ago[TIME_TEXT_MAX];

	if (w->check_failed.p)
		return arena_strf(
		    a, "its last healthcheck failed: " STR_FMT, STR_ARG(w->check_failed));
	if (w->check_age_ms < 0)
		return STR("it has not passed a healthcheck yet");
	return arena_strf(
	    a, "its last good healthcheck began %s ago", time_human_ms(w->check_age_ms, ago));
}

/* Why it is not healthy, in words; STR_NULL: nothing is amiss. */
static struct str worker_why(const struct worker_view *w, struct arena *a)
{
	char silent[TIME_TEXT_MAX];

	switch (w->lack) {
	case LACK_NOTHING: return STR_NULL;
	case LACK_KNOWN: return STR("it has not said yet what it runs");
	case LACK_BEAT:
		return arena_strf(
		    a, "it has been silent for %s", time_human_ms(w->silent_ms, silent));
	case LACK_CHECK: return why_check(w, a);
	case LACK_CONSENSUS: return STR("the workers do not agree yet on who belongs to them");
	case LACK_LIFE: return STR("it is lost: it must end, and come back as a new instance");
	}
	return STR_NULL;
}

#define WARNED_OF 5 /* names that are told */

/* A missing queue may come later; but more often a name is misspelt, and the worker stands idle. */
static struct str worker_warning(
    const struct api *a, const struct worker_row *w, struct arena *arena)
{
	struct str rest = w->facts.active_queues, name, missing = STR_NULL;
	size_t n = 0, n_missing = 0;
	rid id;

	for (; lines_next(&rest, &name); n++) {
		if (core_find(a->host.core, KIND_QUEUE, name) ||
		    (id_parse(a->host.ids, name, &id) && core_queue(a->host.core, id)))
			continue;
		if (n_missing++ < WARNED_OF)
			missing = arena_strf(arena, STR_FMT "%s" STR_FMT, STR_ARG(missing),
			    n_missing > 1 ? ", " : "", STR_ARG(name));
	}
	if (!n_missing)
		return STR_NULL;
	if (n_missing == n)
		return arena_strf(arena,
		    "none of its activequeues exists, so it gets no tasks: " STR_FMT "%s",
		    STR_ARG(missing), n_missing > WARNED_OF ? " …" : "");
	return arena_strf(arena, "of its activequeues do not exist: " STR_FMT "%s",
	    STR_ARG(missing), n_missing > WARNED_OF ? " …" : "");
}

/* All that a worker's members are taken from, in one place. */
struct worker_seen {
	struct worker_row row;
	struct worker_view view;
	struct str why, warning;
	struct worker_services services;
};

static void put_instance(struct buf *b, const void *arg)
{
	const struct worker_seen *w = arg;

	buf_printf(b, "\"%016llx\"", (unsigned long long)w->row.facts.instance);
}

#define F(name, kind, member, bits, text, ...)                                \
	FIELD(name, kind, worker_seen, member, .flags = FIELD_SHOWN | (bits), \
	    .about = text __VA_OPT__(, ) __VA_ARGS__)
#define NONE FIELD_NULL_SHOWN
#define AMOUNTS "{\"type\":[\"object\",\"null\"],\"additionalProperties\":{\"type\":\"number\"}}"
#define STATE .names = worker_state_names, .n_names = N_WORKER_STATES
static const struct field set_fields[] = {
    F("version", FIELD_I64, view.set_version, NONE, "of the last set that it has repeated"),
    F("indirect", FIELD_I64, view.indirect_version, NONE, "up to here it requires the others"),
    F("joined", FIELD_I64, view.joined_version, NONE, "the first set that it is in"),
    F("batched", FIELD_BOOL, view.batched, 0, "it waits until the others agree"),
    {NULL},
};

static const struct field service_fields_of_worker[] = {
    F("instances", FIELD_I32, services.instances, 0, "that are there"),
    F("running", FIELD_I32, services.running, 0, "of these, RUNNING"),
    F("evacuating", FIELD_I32, services.evacuating, 0, "kept until their replacement is ready"),
    F("blocked", FIELD_I32, services.blocked, 0, "of a drained worker: these cannot move now"),
    F("blocked_by", FIELD_TEXT, services.blocked_by, NONE, "which instance, and why: the first"),
    {NULL},
};

const struct field worker_fields[] = {
    F("id", FIELD_ID, row.id, 0, "its id"),
    F("name", FIELD_TEXT, row.facts.shard, 0, "its name, which no other worker has"),
    FIELD_FOUND("instance", FIELD_TEXT, 0, "this process of it"),
    F("state", FIELD_CHOICE, view.shown, 0, "how the server sees it", .names = worker_shown_names,
        .n_names = N_WORKER_SHOWN),
    F("connected", FIELD_BOOL, view.connected, 0, "it is connected now"),
    F("own_state", FIELD_CHOICE, view.own, 0, "how it sees itself", STATE),
    F("why_unhealthy", FIELD_TEXT, why, NONE, "why it gets no tasks"),
    F("warning", FIELD_TEXT, warning, NONE, "what is probably a mistake in its configuration"),
    F("running", FIELD_I32, view.running, 0, "tasks that it was given and has not ended"),
    F("unsure", FIELD_I32, view.unsure, 0, "of these, nobody knows whether they run"),
    F("silent_ms", FIELD_I64, view.silent_ms, 0, "since it was last heard"),
    F("check_age_ms", FIELD_I64, view.check_age_ms, NONE | FIELD_NEGATIVE_NONE,
        "since its last good healthcheck"),
    F("lost_in_ms", FIELD_I64, view.lost_in_ms, NONE | FIELD_NEGATIVE_NONE,
        "until it is held to be lost"),
    FIELD_FOUND("set", FIELD_OBJECT, 0, "its part in the worker set", .table = set_fields),
    F("host", FIELD_TEXT, row.facts.host, 0, "the machine that it is on"),
    F("zone", FIELD_TEXT, row.facts.zone, 0, "the zone that it is in"),
    F("target", FIELD_TEXT, row.facts.target, 0, "its platform"),
    F("version", FIELD_TEXT, row.facts.version, 0, "of its program"),
    F("labels", FIELD_LABELS, row.facts.labels, 0, "its labels"),
    FIELD_FOUND("offers", FIELD_OTHER, FIELD_NULL_SHOWN,
        "what it offers in all; null: it does not say, and gets no task with needs",
        .schema = AMOUNTS),
    FIELD_FOUND("held", FIELD_OTHER, 0, "how much of that its tasks hold", .schema = AMOUNTS),
    FIELD_FOUND("free", FIELD_OTHER, 0, "what is left of it", .schema = AMOUNTS),
    F("plugins", FIELD_LINES, row.facts.plugins, 0, "that it runs"),
    F("activequeues", FIELD_LINES, row.facts.active_queues, 0, "if any: only these"),
    F("ignorequeues", FIELD_LINES, row.facts.ignore_queues, 0, "not these"),
    F("maxthreads", FIELD_I32, view.maxthreads, NONE | FIELD_NEGATIVE_NONE,
        "so many tasks at once; null: no limit"),
    F("maxthreads_set", FIELD_BOOL, row.maxthreads_is_set, 0, "by an operator, not by itself"),
    F("drained", FIELD_BOOL, row.drained, 0, "an operator gives it no more tasks"),
    F("drain_reason", FIELD_TEXT, row.drain_reason, NONE, "why it is drained"),
    F("drain_until", FIELD_TIME, row.drain_until_ms, NONE,
        "then what is still there is ended; null: never"),
    FIELD_FOUND("services", FIELD_OBJECT, 0, "its instances of services",
        .table = service_fields_of_worker),
    F("started", FIELD_TIME, row.facts.started_ms, NONE, "when its process began"),
    F("first_seen", FIELD_TIME, row.first_seen_ms, NONE, "when it came first"),
    F("last_seen", FIELD_TIME, row.last_seen_ms, NONE, "when it was last heard"),
    F("version_number", FIELD_I64, row.version, 0, "rises with every change: the ETag"),
    FIELD_TOLD("maxthreads", FIELD_NEEDED, "null: no limit; worker: its own setting",
        "{\"oneOf\":[{\"type\":[\"integer\",\"null\"],\"minimum\":0},{\"const\":\"worker\"}]}"),
    {NULL},
};

static void put_set(struct buf *b, const void *arg)
{
	const struct showing s = {.row = arg};

	jw_open(b, '{');
	fields_write(b, &s, set_fields);
	jw_close(b, '}');
}

static void put_services(struct buf *b, const void *arg)
{
	const struct showing s = {.row = arg};

	jw_open(b, '{');
	fields_write(b, &s, service_fields_of_worker);
	jw_close(b, '}');
}

static void put_amounts(struct buf *b, const struct worker_view *v, int total, int used)
{
	if (!v->row->facts.offer.n) {
		jw_null(b);
		return;
	}
	jw_open(b, '{');
	for (size_t i = 0; i < v->n_holdings; i++) {
		const struct holding *h = &v->holdings[i];

		jw_mamount(b, str_of(h->name), total * h->total + used * h->used);
	}
	jw_close(b, '}');
}

static void put_offers(struct buf *b, const void *arg)
{
	put_amounts(b, &((const struct worker_seen *)arg)->view, 1, 0);
}

static void put_held(struct buf *b, const void *arg)
{
	put_amounts(b, &((const struct worker_seen *)arg)->view, 0, 1);
}

static void put_free(struct buf *b, const void *arg)
{
	put_amounts(b, &((const struct worker_seen *)arg)->view, 1, -1);
}

static const struct field_out found[] = {{"instance", put_instance}, {"set", put_set},
    {"services", put_services}, {"offers", put_offers}, {"held", put_held}, {"free", put_free},
    {NULL}};

void show_worker(struct buf *b, const struct api *a, const struct worker_view *w)
{
	AUTO(arena_release) struct arena arena = {0};
	struct worker_seen shown = {*w->row, *w, worker_why(w, &arena),
	    w->connected ? worker_warning(a, w->row, &arena) : STR_NULL};
	const struct showing s = {a->host.ids, &shown, found, &shown, true};

	core_worker_services(a->host.core, w->row->id, &arena, &shown.services);
	jw_open(b, '{');
	fields_write(b, &s, worker_fields);
	jw_close(b, '}');
}
