/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/write/findings.h"

#include "graph/write/json_text.h"

static size_t listed(size_t n)
{
	return n < FINDINGS_LISTED ? n : FINDINGS_LISTED;
}

static void begin_list(struct buf *out, const char *name)
{
	json_key(out, name);
	buf_add_char(out, '[');
}

static void add_unknown(const struct finding_unknown *u, struct buf *out)
{
	json_next(out);
	buf_add_char(out, '{');
	json_key_text(out, "package", u->package);
	json_key_i64(out, "n_needed_by", u->n_users);
	begin_list(out, "needed_by");
	for (uint32_t i = 0; i < u->n_users && i < FINDING_USERS; i++) {
		json_next(out);
		json_text(out, u->users[i]);
	}
	buf_add_cstr(out, "]}");
}

static void add_blocked(const struct finding_blocked *b, struct buf *out)
{
	json_next(out);
	buf_add_char(out, '{');
	json_key_text(out, "package", b->package);
	json_key_text(out, "how", str_of(b->through.n ? "indirect" : "direct"));
	if (b->through.n) {
		json_key_text(out, "through", b->through);
		json_key_text(out, "root", b->root);
	}
	json_key_text(out, "reason", b->reason);
	buf_add_char(out, '}');
}

static void add_counts(const struct findings *f, struct buf *out)
{
	json_key(out, "counts");
	buf_add_char(out, '{');
	json_key_i64(out, "loops", f->loop != NULL);
	json_key_i64(out, "contradictions", (int64_t)f->n_contradictions);
	json_key_i64(out, "unknown", (int64_t)f->n_unknown);
	json_key_i64(out, "unbuildable", (int64_t)f->n_blocked);
	buf_add_char(out, '}');
}

void findings_json(const struct findings *f, struct buf *out)
{
	buf_add_char(out, '{');
	json_key(out, "ok");
	buf_add_cstr(out, findings_ok(f) ? "true" : "false");
	json_key_i64(out, "packages", (int64_t)f->n_packages);
	json_key_i64(out, "dependencies", (int64_t)f->n_deps);
	add_counts(f, out);
	begin_list(out, "loops");
	if (f->loop)
		json_text(out, str_of(f->loop));
	buf_add_char(out, ']');
	begin_list(out, "contradictions");
	for (size_t i = 0; i < listed(f->n_contradictions); i++) {
		json_next(out);
		json_text(out, str_of(f->contradictions[i]));
	}
	buf_add_char(out, ']');
	begin_list(out, "unknown");
	for (size_t i = 0; i < listed(f->n_unknown); i++)
		add_unknown(&f->unknown[i], out);
	buf_add_char(out, ']');
	begin_list(out, "unbuildable");
	for (size_t i = 0; i < listed(f->n_blocked); i++)
		add_blocked(&f->blocked[i], out);
	buf_add_cstr(out, "]}");
}
