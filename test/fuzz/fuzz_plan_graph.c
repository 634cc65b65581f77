/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs of packages out of arbitrary bytes, four a step: an upload, with dependencies, or a
 * removal; at the end a plan. There is never a loop, not of runtime dependencies in the graph and
 * not in the plan; and the idents and versions in between have one order.
 */
#include <stdio.h>

#include "base/mem.h"
#include "graph/plan/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NAMES 24

static struct ident ident_of(unsigned n, unsigned version, char text[32])
{
	static const char *const forms[] = {"o/p%u", "o/p%u/%u", "o/p%u/%u/1"};
	struct ident id;

	snprintf(text, 32, forms[version % 3], n % NAMES, version / 3 % 4);
	MUST(ident_parse(str_of(text), &id, NULL) == 0);
	return id;
}

static void step(struct package_graph *g, const uint8_t *b)
{
	char texts[4][32], own[32];
	struct upload_dep deps[4];
	struct upload u = {.deps = deps, .n_deps = b[0] % 4};
	enum upload_result result;
	struct problem p = {0};

	for (size_t i = 0; i < u.n_deps; i++)
		deps[i] = (struct upload_dep){ident_of(b[1] * (i + 3) + i, b[2] >> i, texts[i]),
		    (enum dep_kind)(1 << (b[3] >> i) % 3)};
	snprintf(own, sizeof own, "o/p%u/%u/%u", b[1] % NAMES, b[2] % 5, b[3] % 2);
	MUST(ident_parse_full(str_of(own), &u.ident, NULL) == 0);
	if (b[0] % 16 == 15)
		package_graph_remove(g, &u.ident, &p);
	else if (package_graph_add(g, &u, &result, &p) < 0)
		MUST(p.code == ERR_CONFLICT);
	MUST(package_graph_check(g, &p) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct plan_request all = {.all = true, .rounds = 2};
	struct package_graph g = {0};
	struct manifest m = {0};
	struct problem p = {0};
	struct str one = {(const char *)data, size / 2}, other = {one.p + one.n, size - one.n};

	MUST((version_cmp(one, other) < 0) == (version_cmp(other, one) > 0));
	for (size_t at = 0; at + 4 <= size && at < 1024; at += 4)
		step(&g, data + at);
	if (manifest_make(&g, &all, &m, &p) == 0)
		for (uint32_t j = 0; j < m.dag.n; j++)
			for (uint32_t e = m.dag.first[j]; e < m.dag.first[j + 1]; e++)
				MUST(m.dag.needs[e] < j);
	else
		MUST(p.code == ERR_CONFLICT);
	manifest_release(&m);
	package_graph_release(&g);
	return 0;
}
