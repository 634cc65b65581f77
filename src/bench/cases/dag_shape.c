/* SPDX-License-Identifier: Apache-2.0 */
/* The shapes of the case dag, and the three languages in which they are told. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "bench/cases/dag.h"
#include "graph/file/file.h"

#define SEED 1
#define LAYERS 100
#define LAYER_NEEDS 3
#define FILE_MAX ((size_t)64 << 20)

const char *const dag_shape_names[N_DAG_SHAPES] = {"chain", "wide", "layers"};

static bool has_need(const struct dag *d, uint32_t from, uint32_t to, uint32_t need)
{
	for (uint32_t i = from; i < to; i++)
		if (d->needs[i] == need)
			return true;
	return false;
}

static uint32_t layer_needs(struct dag *d, struct rng *r, uint32_t job, uint32_t at)
{
	uint32_t size = d->n < LAYERS ? 1 : d->n / LAYERS, layer = job / size, begin = at;

	for (int i = 0; layer && i < LAYER_NEEDS; i++) {
		uint32_t need = (layer - 1) * size + (uint32_t)rng_below(r, size);

		if (!has_need(d, begin, at, need))
			d->needs[at++] = need;
	}
	return at;
}

static uint32_t needs_of(
    struct dag *d, struct rng *r, enum dag_shape shape, uint32_t job, uint32_t at)
{
	if (shape == DAG_LAYERS)
		return layer_needs(d, r, job, at);
	if (shape == DAG_CHAIN || (job > 0 && job + 1 < d->n)) {
		if (job)
			d->needs[at++] = shape == DAG_CHAIN ? job - 1 : 0;
		return at;
	}
	for (uint32_t i = 1; job && i < job; i++)
		d->needs[at++] = i;
	return at;
}

void dag_make(struct dag *d, enum dag_shape shape, uint32_t n)
{
	struct rng r = {SEED};
	uint32_t at = 0;

	*d = (struct dag){.n = n};
	d->first = xmalloc((n + 1) * sizeof *d->first);
	d->needs = xmalloc((size_t)n * LAYER_NEEDS * sizeof *d->needs);
	for (uint32_t job = 0; job < n; job++) {
		d->first[job] = at;
		at = needs_of(d, &r, shape, job, at);
	}
	d->first[n] = at;
}

static int read_text(const char *path, struct buf *text, struct problem *p)
{
	FILE *f = fopen(path, "re");
	size_t n = 1;

	while (f && n && text->n < FILE_MAX) {
		buf_reserve(text, 65536);
		n = fread(text->p + text->n, 1, 65536, f);
		text->n += n;
	}
	if (!f)
		return problem_set(p, ERR_IO, "%s cannot be read", path);
	fclose(f);
	return 0;
}

int dag_read(struct dag *d, const char *path, struct problem *p)
{
	AUTO(buf_release) struct buf text = {0};
	struct plan_file file = {0};
	struct manifest m = {0};
	int r = read_text(path, &text, p);

	if (r == 0)
		r = plan_file_read(buf_str(&text), &file, p);
	if (r == 0)
		r = plan_file_manifest(&file, 0, &m, p);
	*d = m.dag;
	m.dag = (struct dag){0};
	manifest_release(&m);
	plan_file_release(&file);
	if (r == 0 && d->n == 0)
		r = problem_set(
		    p, ERR_INVALID, "%s: nothing is planned of it; packages are wanted", path);
	return r;
}

void dag_as_group(const struct dag *d, const char *queue, const char *work, struct buf *out)
{
	buf_printf(out, "{\"queue\":\"%s\",\"jobs\":[", queue);
	for (uint32_t job = 0; job < d->n; job++) {
		buf_printf(out, "%s{\"name\":\"j%u\",%s", job ? ",\n" : "", job, work);
		for (uint32_t i = d->first[job]; i < d->first[job + 1]; i++)
			buf_printf(out, "%s\"j%u\"", i == d->first[job] ? ",\"needs\":[" : ",",
			    d->needs[i]);
		buf_add_cstr(out, d->first[job] < d->first[job + 1] ? "]}" : "}");
	}
	buf_add_cstr(out, "]}");
}

static void add_all(const struct dag *d, const char *before, struct buf *out)
{
	buf_add_cstr(out, before);
	for (uint32_t job = 0; job < d->n; job++)
		buf_printf(out, " j%u", job);
	buf_add_char(out, '\n');
}

/* No shell: make runs a command without special characters by itself. */
void dag_as_makefile(const struct dag *d, struct buf *out)
{
	add_all(d, "all:", out);
	add_all(d, ".PHONY: all", out);
	for (uint32_t job = 0; job < d->n; job++) {
		buf_printf(out, "j%u:", job);
		for (uint32_t i = d->first[job]; i < d->first[job + 1]; i++)
			buf_printf(out, " j%u", d->needs[i]);
		buf_add_cstr(out, "\n\t@/bin/true\n");
	}
}

/* Nothing makes the files that it asks for, so everything is built every time. */
void dag_as_ninja(const struct dag *d, struct buf *out)
{
	buf_add_cstr(out, "rule t\n command = /bin/true\n");
	for (uint32_t job = 0; job < d->n; job++) {
		buf_printf(out, "build j%u: t", job);
		for (uint32_t i = d->first[job]; i < d->first[job + 1]; i++)
			buf_printf(out, " j%u", d->needs[i]);
		buf_add_char(out, '\n');
	}
}
