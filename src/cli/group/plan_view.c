/* SPDX-License-Identifier: Apache-2.0 */
/* A plan for people. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/group/group.h"
#include "cli/output/output.h"

#define NAMES_SHOWN 6 /* of a long list; all of them with -o wide */

static const struct heading columns[] = {
    {"JOB", 0},
    {"LEVEL", HEADING_RIGHT},
    {"NEEDS", HEADING_RIGHT},
    {"WAITS FOR", HEADING_STRETCH},
};

static char *span_text(const struct report *r, int64_t n)
{
	char text[TIME_TEXT_MAX];

	return xstrdup(report_has_durations(r) ? human_short(n, text) : human_count(n, text));
}

static void add_waits(struct cli *c, const struct report *r, uint32_t job, struct buf *out)
{
	const struct dag *d = r->dag;
	uint32_t from = d->first[job], n = d->first[job + 1] - from;

	for (uint32_t i = 0; i < n; i++) {
		if (i == NAMES_SHOWN && c->format != FORMAT_WIDE) {
			buf_printf(out, " and %u more", n - i);
			return;
		}
		if (i)
			buf_add_char(out, ' ');
		report_job_name(r, d->needs[from + i], out);
	}
}

static void show_jobs(struct cli *c, const struct report *r)
{
	struct table t;
	struct buf b = {0};

	table_init(&t, columns, N_OF(columns));
	for (uint32_t j = 0; j < r->dag->n; j++) {
		buf_reset(&b);
		report_job_name(r, j, &b);
		table_add(&t, b.p);
		table_addf(&t, "%u", r->measures.level[j]);
		table_addf(&t, "%u", r->dag->first[j + 1] - r->dag->first[j]);
		buf_reset(&b);
		add_waits(c, r, j, &b);
		table_add(&t, b.n ? b.p : NULL);
	}
	if (r->dag->n)
		table_print(&t, c);
	table_release(&t);
	buf_release(&b);
}

static void show_nodes(
    const struct manifest *m, const char *title, const uint32_t *nodes, size_t n, bool wide)
{
	struct buf b = {0};

	if (n == 0)
		return;
	for (size_t i = 0; i < n && (wide || i < NAMES_SHOWN); i++)
		buf_printf(&b, " " STR_FMT, STR_ARG(m->texts[nodes[i]]));
	if (!wide && n > NAMES_SHOWN)
		buf_printf(&b, " and %zu more", n - NAMES_SHOWN);
	say(stdout, "%s:%s", title, b.p);
	buf_release(&b);
}

static void show_left_out(const struct manifest *m)
{
	for (uint32_t i = 0; i < m->n_left_out; i++) {
		const struct left_out *l = &m->left_out[i];

		if (l->through == l->node)
			say(stdout, "left out: " STR_FMT ": " STR_FMT, STR_ARG(m->texts[l->node]),
			    STR_ARG(m->reasons[l->root]));
		else
			say(stdout, "left out: " STR_FMT " through " STR_FMT ": " STR_FMT,
			    STR_ARG(m->texts[l->node]), STR_ARG(m->texts[l->through]),
			    STR_ARG(m->reasons[l->root]));
	}
}

static void show_manifest(const struct report *r, bool wide)
{
	const struct manifest *m = r->manifest;
	size_t n;
	uint32_t *externals = report_externals(m, &n);
	char title[64];

	for (uint32_t i = 0; i < m->n_components; i++) {
		snprintf(
		    title, sizeof title, "cycle of %u, %u rounds", m->components[i].n, r->rounds);
		show_nodes(m, title, m->components[i].members, m->components[i].n, wide);
	}
	show_nodes(m, "external", externals, n, wide);
	show_nodes(m, "unknown, built alone", m->unknown, m->n_unknown, wide);
	show_left_out(m);
	free(externals);
}

static void show_makespans(const struct report *r)
{
	for (size_t i = 0; i < r->n_workers; i++) {
		uint32_t w = r->workers[i];
		AUTO(free_cstr)
		char *oldest = span_text(r, dag_makespan(r->dag, &r->measures, w, PICK_OLDEST));
		AUTO(free_cstr)
		char *longest = span_text(r, dag_makespan(r->dag, &r->measures, w, PICK_LONGEST));

		say(stdout, "%u worker%s: %s, or %s with the longest path first", w,
		    w == 1 ? "" : "s", oldest, longest);
	}
}

void plan_show(struct cli *c, const struct report *r)
{
	const struct dag *d = r->dag;
	AUTO(free_cstr) char *total = span_text(r, r->measures.total);
	AUTO(free_cstr) char *critical = span_text(r, r->measures.critical);

	show_jobs(c, r);
	if (d->n)
		say(stdout, "%s", "");
	say(stdout, "%u job%s, %u dependencies between them; %u can start at once", d->n,
	    d->n == 1 ? "" : "s", d->n ? d->first[d->n] : 0, r->measures.at_once);
	say(stdout, "longest chain %u, widest level %u", r->measures.longest_chain,
	    r->measures.widest_level);
	if (r->manifest)
		show_manifest(r, c->format == FORMAT_WIDE);
	say(stdout, "one worker: %s; any number: %s%s", total, critical,
	    report_has_durations(r) ? "" : " (each job counts as 1)");
	show_makespans(r);
}
