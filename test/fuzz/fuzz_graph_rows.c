/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of packages out of arbitrary bytes: "ident NUL needs NUL targets NUL reason". What is read
 * as a package is one, and is written as a row that reads as the same package again.
 */
#include "api/graphs/rows.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct str next_text(struct str *rest)
{
	struct str text;

	return rest->n && str_next(rest, 0, &text) && text.n ? text : STR_NULL;
}

static bool same(const struct graph_package_row *a, const struct graph_package_row *b)
{
	return str_eq(a->ident, b->ident) && str_eq(a->targets, b->targets) &&
	       str_eq(a->reason, b->reason) && a->needs.n == b->needs.n;
}

static void take(struct package_graph *g, const struct graph_package_row *row, struct arena *a,
    struct graph_package_row *ret_row)
{
	enum upload_result result;
	struct problem p = {0};
	struct upload u;

	*ret_row = (struct graph_package_row){0};
	if (!package_of_row(row, a, &u) || package_graph_put(g, &u, &result, &p) < 0)
		return;
	package_to_row(g, package_graph_find(g, u.ident.key), a, ret_row);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = {(const char *)data, size};
	struct graph_package_row row = {0}, once, twice;
	struct package_graph g = {0}, other = {0};
	struct arena a = {0};

	row.ident = next_text(&rest);
	row.needs = next_text(&rest);
	row.targets = next_text(&rest);
	row.reason = next_text(&rest);
	take(&g, &row, &a, &once);
	if (once.ident.p) {
		take(&other, &once, &a, &twice);
		MUST(twice.ident.p && same(&once, &twice));
	}
	package_graph_release(&g);
	package_graph_release(&other);
	arena_release(&a);
	return 0;
}
