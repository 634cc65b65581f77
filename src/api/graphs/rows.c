/* SPDX-License-Identifier: Apache-2.0 */
#include "api/graphs/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/lines.h"

static const struct {
	char letter;
	enum dep_kind kind;
} letters[] = {{'r', DEP_RUNTIME}, {'b', DEP_BUILD}, {'s', DEP_STRONG}};
#define N_LETTERS (sizeof letters / sizeof *letters)

static void add_dep(const struct package_graph *g, const struct dep *d, struct buf *b)
{
	for (size_t i = 0; i < N_LETTERS; i++)
		if (d->kinds & letters[i].kind)
			buf_add_char(b, letters[i].letter);
	buf_add_char(b, ' ');
	buf_add_str(b, g->names.texts[d->on]);
	if (d->version != NO_NAME) {
		buf_add_char(b, '/');
		buf_add_str(b, g->versions.texts[d->version]);
	}
	buf_add_char(b, '\n');
}

void package_to_row(const struct package_graph *g, const struct package *k, struct arena *a,
    struct graph_package_row *ret_row)
{
	AUTO(buf_release) struct buf b = {0};

	for (uint32_t i = 0; i < k->n_deps; i++)
		add_dep(g, &k->deps[i], &b);
	ret_row->ident = k->ident ? arena_str(a, str_of(k->ident)) : STR_NULL;
	ret_row->needs = b.n ? arena_str(a, buf_str(&b)) : STR_NULL;
	ret_row->targets = k->targets ? arena_str(a, str_of(k->targets)) : STR_NULL;
	ret_row->reason = k->unbuildable ? arena_str(a, str_of(k->unbuildable)) : STR_NULL;
	ret_row->duration_ms = k->duration_ms;
}

/* "rb origin/name" */
static bool read_dep(struct str line, struct upload_dep *ret_dep)
{
	unsigned kinds = 0;
	struct str word;

	if (!str_next(&line, ' ', &word) || word.n == 0 || word.n > N_LETTERS)
		return false;
	for (size_t i = 0; i < word.n; i++)
		for (size_t l = 0; l < N_LETTERS; l++)
			if (word.p[i] == letters[l].letter)
				kinds |= letters[l].kind;
	ret_dep->kind = (enum dep_kind)kinds;
	return kinds && ident_parse(line, &ret_dep->on, NULL) == 0;
}

static size_t count_lines(struct str text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == '\n';
	return n;
}

bool package_of_row(const struct graph_package_row *row, struct arena *a, struct upload *ret_upload)
{
	struct str rest = row->needs, line;
	struct upload_dep *deps = arena_alloc(a, (count_lines(rest) + 1) * sizeof *deps);
	size_t n = 0;

	*ret_upload = (struct upload){.deps = deps,
	    .unbuildable = row->reason,
	    .targets = row->targets,
	    .duration_ms = row->duration_ms};
	if (ident_parse_full(row->ident, &ret_upload->ident, NULL) < 0)
		return false;
	while (lines_next(&rest, &line))
		if (!read_dep(line, &deps[n++]))
			return false;
	ret_upload->n_deps = n;
	return true;
}

static struct ident dep_ident(const struct package_graph *g, const struct dep *d)
{
	struct ident id = {.key = g->names.texts[d->on]};

	if (d->version != NO_NAME)
		id.version = g->versions.texts[d->version];
	return id;
}

void package_to_upload(const struct package_graph *g, const struct package *k, struct arena *a,
    struct upload *ret_upload)
{
	struct upload_dep *deps = arena_alloc(a, (k->n_deps + 1) * sizeof *deps);

	*ret_upload = (struct upload){.deps = deps,
	    .n_deps = k->n_deps,
	    .unbuildable = str_of(k->unbuildable),
	    .targets = str_of(k->targets),
	    .duration_ms = k->duration_ms};
	MUST(ident_parse_full(str_of(k->ident), &ret_upload->ident, NULL) == 0);
	for (uint32_t i = 0; i < k->n_deps; i++)
		deps[i] =
		    (struct upload_dep){dep_ident(g, &k->deps[i]), (enum dep_kind)k->deps[i].kinds};
}
