/* SPDX-License-Identifier: Apache-2.0 */
/* A worker as JSON: who it is, how it stands, and in words why it gets no tasks. */
#include "api/objects/show.h"
#include "base/timefmt.h"

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

struct str worker_why(const struct worker_view *w, struct arena *a)
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

static void add_set(struct buf *b, const struct worker_view *w)
{
	jw_key(b, "set");
	jw_open(b, '{');
	jw_mi64_null(b, "version", (int64_t)w->set_version, w->set_version != 0);
	jw_mi64_null(b, "indirect", (int64_t)w->indirect_version, w->indirect_version != 0);
	jw_mi64_null(b, "joined", (int64_t)w->joined_version, w->joined_version != 0);
	jw_mbool(b, "batched", w->batched);
	jw_close(b, '}');
}

static void add_health(struct buf *b, const struct worker_view *w)
{
	struct arena a = {0};

	jw_mcstr(b, "state", worker_shown_names[w->shown]);
	jw_mbool(b, "connected", w->connected);
	jw_mcstr(b, "own_state", worker_state_names[w->own]);
	jw_mstr_null(b, "why_unhealthy", worker_why(w, &a));
	jw_mi64(b, "running", w->running);
	jw_mi64(b, "unsure", w->unsure);
	jw_mi64(b, "silent_ms", w->silent_ms);
	jw_mi64_null(b, "check_age_ms", w->check_age_ms, w->check_age_ms >= 0);
	jw_mi64_null(b, "lost_in_ms", w->lost_in_ms, w->lost_in_ms >= 0);
	add_set(b, w);
	arena_release(&a);
}

void show_worker(struct buf *b, const struct api *a, const struct worker_view *w)
{
	const struct worker_facts *f = &w->row->facts;

	jw_open(b, '{');
	jw_mid_null(b, "id", a->host.ids, w->row->id);
	jw_mstr(b, "name", f->shard);
	jw_key(b, "instance");
	buf_printf(b, "\"%016llx\"", (unsigned long long)f->instance);
	add_health(b, w);
	jw_mstr(b, "host", f->host);
	jw_mstr(b, "zone", f->zone);
	jw_mstr(b, "target", f->target);
	jw_mstr(b, "version", f->version);
	jw_mlabels(b, "labels", f->labels);
	jw_mlines(b, "plugins", f->plugins);
	jw_mlines(b, "activequeues", f->active_queues);
	jw_mlines(b, "ignorequeues", f->ignore_queues);
	jw_mi64_null(b, "maxthreads", w->maxthreads, w->maxthreads >= 0);
	jw_mbool(b, "maxthreads_set", w->row->maxthreads_is_set);
	jw_mbool(b, "drained", w->row->drained);
	jw_mstr_null(b, "drain_reason", w->row->drain_reason);
	jw_mtime_null(b, "started", f->started_ms);
	jw_mtime_null(b, "first_seen", w->row->first_seen_ms);
	jw_mtime_null(b, "last_seen", w->row->last_seen_ms);
	jw_mi64(b, "version_number", w->row->version);
	jw_close(b, '}');
}
