/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define DEPS 4096

static enum dep_kind kind_of(char c)
{
	assert_true(c == 'r' || c == 'b' || c == 's');
	return c == 'r' ? DEP_RUNTIME : c == 'b' ? DEP_BUILD : DEP_STRONG;
}

int add_line(struct package_graph *g, const char *line, bool checked,
    enum upload_result *ret_result, struct problem *p)
{
	static struct upload_dep deps[DEPS];
	struct upload u = {.deps = deps};
	struct str rest = str_of(line), word;
	int rc;

	assert_true(str_next(&rest, ' ', &word));
	if ((rc = ident_parse_full(word, &u.ident, p)) < 0)
		return rc;
	while (rest.n && rest.p[0] != '!' && str_next(&rest, ' ', &word)) {
		struct str name = {word.p + 2, word.n - 2};

		if (word.p[0] == '@') {
			assert_true(str_to_i64(
			    (struct str){word.p + 1, word.n - 1}, 1, 1000000, &u.duration_ms));
			continue;
		}
		assert_true(u.n_deps < DEPS);
		if ((rc = ident_parse(name, &deps[u.n_deps].on, p)) < 0)
			return rc;
		deps[u.n_deps++].kind = kind_of(word.p[0]);
	}
	if (rest.n)
		u.unbuildable = (struct str){rest.p + 1, rest.n - 1};
	return (checked ? package_graph_add : package_graph_put)(g, &u, ret_result, p);
}

void load_lines(struct package_graph *g, const char *lines)
{
	AUTO(free_cstr) char *copy = xstrdup(lines);
	enum upload_result result;
	struct problem p = {0};

	for (char *save, *line = strtok_r(copy, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		assert_int_equal(add_line(g, line, false, &result, &p), 0);
	assert_int_equal(package_graph_check(g, &p), 0);
}

int plan_of(const struct package_graph *g, const char *touched, const char *blocked,
    uint32_t rounds, struct manifest *ret_manifest, struct problem *p)
{
	struct str keys[64], rest = str_of(touched), word;
	struct plan_block blocks[64];
	struct plan_request r = {.touched = keys, .blocked = blocks, .rounds = rounds};

	r.all = strcmp(touched, "*") == 0;
	while (!r.all && rest.n && str_next(&rest, ',', &word))
		keys[r.n_touched++] = word;
	rest = str_of(blocked);
	while (rest.n && str_next(&rest, ',', &word)) {
		struct plan_block *b = &blocks[r.n_blocked++];

		assert_true(str_next(&word, '=', &b->key));
		b->reason = word;
	}
	return manifest_make(g, &r, ret_manifest, p);
}

static void why_add(struct buf *b, uint8_t why)
{
	static const char letters[] = "rbso";

	buf_add_char(b, '(');
	for (int i = 0; i < 4; i++)
		if (why >> i & 1)
			buf_add_char(b, letters[i]);
	buf_add_char(b, ')');
}

static void job_add(struct buf *b, const struct manifest *m, uint32_t job)
{
	buf_add_str(b, m->texts[m->jobs[job].node]);
	buf_printf(b, "#%u", m->jobs[job].round);
}

static void left_add(struct buf *b, const struct manifest *m, const struct left_out *l)
{
	buf_printf(b, "-" STR_FMT, STR_ARG(m->texts[l->node]));
	if (l->through == l->node)
		buf_printf(b, ": " STR_FMT "\n", STR_ARG(m->reasons[l->node]));
	else
		buf_printf(b, " through " STR_FMT " of " STR_FMT "\n",
		    STR_ARG(m->texts[l->through]), STR_ARG(m->texts[l->root]));
}

char *manifest_words(const struct manifest *m)
{
	struct buf b = {0};

	for (uint32_t j = 0; j < m->dag.n; j++) {
		job_add(&b, m, j);
		for (uint32_t e = m->dag.first[j]; e < m->dag.first[j + 1]; e++) {
			buf_add_cstr(&b, e == m->dag.first[j] ? " < " : " ");
			job_add(&b, m, m->dag.needs[e]);
			why_add(&b, m->dag.why[e]);
		}
		for (uint32_t e = m->outside_first[j]; e < m->outside_first[j + 1]; e++) {
			buf_add_cstr(&b, e == m->outside_first[j] ? " | " : " ");
			buf_add_str(&b, m->texts[m->outside[e]]);
			why_add(&b, m->outside_why[e]);
		}
		buf_add_char(&b, '\n');
	}
	for (uint32_t i = 0; i < m->n_left_out; i++)
		left_add(&b, m, &m->left_out[i]);
	return buf_take(&b);
}
