/* SPDX-License-Identifier: Apache-2.0 */
#include "api/groups/graph_scan.h"

#include <string.h>

/* The piece goes before the name is used for the last time. */
static void keep_name(struct graph_scan *s, struct str name)
{
	memcpy(s->kept, name.p, name.n);
	s->name = (struct str){s->kept, name.n};
}

static int scan_piece(struct graph_scan *s, struct str data)
{
	struct group_graph_reader g;
	struct group_edge e;

	group_graph_read(&g, data, s->n_jobs);
	while (group_graph_read_job(&g)) {
		if (g.has_name) {
			keep_name(s, g.name);
			if (s->job)
				s->job(s->arg, g.job, s->name);
		}
		while (group_graph_read_edge(&g, &e))
			if (s->edge)
				s->edge(s->arg, &e, s->name);
	}
	return g.is_bad ? ERR_STORE : 0;
}

int graph_scan_step(struct graph_scan *s, struct store_reader *r)
{
	const struct part_query q = {.table = &group_graph_table,
	    .object = s->group,
	    .from = s->at,
	    .to = s->at + SCAN_CHUNKS,
	    .oldest_first = true,
	    .limit = SCAN_CHUNKS};
	const struct group_graph_row *rows;
	struct part_page page;
	int rc;

	arena_reset(s->scratch);
	rc = store_parts(r, &q, s->scratch, &page);
	rows = page.rows;
	for (size_t i = 0; i < page.n && !rc; i++, s->at++)
		rc = rows[i].number == s->at ? scan_piece(s, rows[i].data) : ERR_STORE;
	/* what should be there is not */
	if (!rc && s->at < s->n_chunks && page.n < SCAN_CHUNKS)
		rc = ERR_STORE;
	return rc;
}

int graph_scan_all(struct graph_scan *s, struct store_reader *r)
{
	int rc = 0;

	while (!rc && s->at < s->n_chunks)
		rc = graph_scan_step(s, r);
	return rc;
}
