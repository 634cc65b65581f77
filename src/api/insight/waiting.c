/* SPDX-License-Identifier: Apache-2.0 */
/* What the server waits for, for whom, and until when: nobody should have to guess. */
#include <inttypes.h>

#include "api/objects/show.h"
#include "words/words.h"

void show_worker_set(struct call *c)
{
	struct buf *b = &c->out;
	struct set_view v;

	core_set(c->host->core, c->host->mono_ms(c->host->arg), &v);
	jw_key(b, "worker_set");
	jw_open(b, '{');
	jw_key(b, "server");
	buf_printf(b, "\"%016" PRIx64 "\"", v.id.server);
	jw_mi64(b, "version", (int64_t)v.id.version);
	jw_key(b, "hash");
	buf_printf(b, "\"%016" PRIx64 "%016" PRIx64 "\"", v.id.hash.sum, v.id.hash.xor);
	jw_mi64(b, "workers", v.id.hash.count);
	jw_mbool(b, "consensus", v.consensus);
	jw_mi64(b, "batched", v.batched);
	jw_mbool(b, "waiting", v.waiting);
	jw_mi64_null(b, "ends_in_ms", v.ends_in_ms, v.ends_in_ms >= 0);
	jw_close(b, '}');
}

static void add_wait(struct call *c, const char *code, const struct wait *w, struct str text)
{
	struct buf *b = &c->out;
	struct worker_view view;
	bool known = w->worker && core_worker(c->host->core, w->worker, 0, &view);

	jw_open(b, '{');
	jw_mcstr(b, "code", code);
	jw_mstr_null(b, "worker", known ? view.row->facts.shard : STR_NULL);
	jw_mi64(b, "tasks", w->tasks);
	jw_mi64_null(b, "in_ms", w->in_ms, w->in_ms >= 0);
	jw_mtime_null(b, "until", w->in_ms >= 0 ? c->host->wall_ms(c->host->arg) + w->in_ms : 0);
	jw_mstr(b, "text", text);
	jw_close(b, '}');
}

void show_waiting(struct call *c, bool no_worker)
{
	static const struct wait nobody = {.in_ms = -1};
	const struct core *core = c->host->core;
	struct wait *waits = NULL;
	size_t n = 0;

	jw_key(&c->out, "waiting");
	jw_open(&c->out, '[');
	if (!core_is_open(core))
		add_wait(c, "loading", &nobody, STR("the store is being loaded"));
	else
		n = core_waits(core, c->host->mono_ms(c->host->arg), &c->arena, &waits);
	for (size_t i = 0; i < n; i++)
		if (!c->who.limit || !waits[i].worker) /* workers, and everybody's tasks on them */
			add_wait(c, wait_names[waits[i].code], &waits[i],
			    words_wait(&c->arena, &waits[i]));
	if (core_is_open(core) && no_worker)
		add_wait(c, "no-worker", &nobody,
		    STR("no worker is connected, so nothing starts; reeve worker --join starts "
		        "one"));
	jw_close(&c->out, ']');
}
