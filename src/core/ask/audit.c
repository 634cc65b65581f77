/* SPDX-License-Identifier: Apache-2.0 */
/* What people audit: rows of their own, and a notice with the same number. */
#include "core/state.h"

void detail_add_str(struct buf *b, struct str s)
{
	buf_add_char(b, '"');
	for (size_t i = 0; i < s.n; i++) {
		unsigned char ch = (unsigned char)s.p[i];

		if (ch == '"' || ch == '\\')
			buf_printf(b, "\\%c", ch);
		else if (ch < 0x20)
			buf_printf(b, "\\u%04x", ch);
		else
			buf_add_char(b, (char)ch);
	}
	buf_add_char(b, '"');
}

struct str details_of(struct arena *a, const struct detail *d, size_t n)
{
	struct buf b = {0};
	struct str kept;

	for (size_t i = 0; i < n; i++) {
		if (!d[i].value.p)
			continue;
		buf_printf(&b, "%c\"%s\":", b.n ? ',' : '{', d[i].name);
		detail_add_str(&b, d[i].value);
	}
	if (!b.n)
		return STR_NULL;
	buf_add_char(&b, '}');
	kept = arena_str(a, buf_str(&b));
	buf_release(&b);
	return kept;
}

struct str detail_of(struct arena *a, const char *name, struct str value)
{
	return details_of(a, &(struct detail){name, value}, 1);
}

void audit(struct core *c, const char *kind, struct str subject, rid queue, rid worker,
    struct str actor, struct str detail, struct effects *out)
{
	struct arena *a = &out->batch.arena;
	struct notice *n = effects_notice(out, kind);
	struct event_row *row = arena_zalloc(a, sizeof *row);

	n->seq = row->seq = ++c->last_event;
	n->time_ms = row->time_ms = c->now_ms;
	n->queue = queue;
	n->worker = worker;
	n->exit_code = -1;
	n->subject = row->subject = arena_str(a, subject);
	n->detail = row->detail = arena_str(a, detail);
	row->kind = str_of(kind);
	row->actor = arena_str(a, actor);
	batch_put(&out->batch, &event_table, row);
}

void audit_object(struct core *c, const char *kind, const struct object *o, struct str actor,
    struct str detail, struct effects *out)
{
	struct notice *n;

	audit(c, kind, o->name, o->kind == KIND_QUEUE ? o->id : 0,
	    o->kind == KIND_WORKER ? o->id : 0, actor, detail, out);
	n = &out->notices[out->n_notices - 1];
	if (object_kinds[o->kind]->tasks.ended)
		n->owner = (struct owner){o->kind, o->id, 0};
}

void save_worker(struct core *c, struct worker *w, struct effects *out)
{
	w->row.state = (int32_t)w->health.state;
	batch_put(&out->batch, &worker_table, row_new(&out->batch.arena, &worker_table, &w->row));
}
