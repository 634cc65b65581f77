/* SPDX-License-Identifier: Apache-2.0 */
/* Arbitrary bytes as an action: a tree within its bounds, or a problem that says where. */
#include <string.h>

#include "base/mem.h"
#include "wire/json/action.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t check_tree(const struct action *a, int depth)
{
	size_t n = 1;

	MUST(depth < ACTION_DEPTH_MAX);
	if (a->kind == ACTION_RUN)
		MUST(a->run.n_argv > 0 && a->run.argv[0] && !a->run.argv[a->run.n_argv]);
	if (a->kind == ACTION_TIMEOUT)
		MUST(a->timeout_ms > 0);
	if (a->kind == ACTION_DOWNLOAD || a->kind == ACTION_UPLOAD)
		MUST(a->transfer.from.n > 0 && a->transfer.to.n > 0);
	MUST((a->n_inner == 0) == (a->kind == ACTION_RUN || a->kind >= ACTION_DOWNLOAD));
	for (size_t i = 0; i < a->n_inner; i++)
		n += check_tree(a->inner[i], depth + 1);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *v = json_loadb((const char *)data, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	struct arena a = {0};
	struct problem p = {0};
	struct action *root;

	if (!v)
		return 0;
	if (action_parse(v, &a, &root, &p) == 0) {
		MUST(check_tree(root, 0) <= ACTION_NODES_MAX);
	} else {
		MUST(p.code == ERR_INVALID && p.what[0]);
		MUST(strncmp(p.field, "action", 6) == 0 || strncmp(p.field, "...", 3) == 0);
	}
	json_decref(v);
	arena_release(&a);
	return 0;
}
