/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of groups: read, planned, and made into tasks. What was made must hold together. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/groups/draft/draft.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct draft *d)
{
	for (size_t i = 0; i < d->group.n_edges; i++)
		MUST(d->group.edges[i].job < d->n && d->group.edges[i].need < d->n);
	for (size_t i = 0; i < d->n; i++)
		MUST(d->jobs[i].queue < d->n_queues && d->group.names[i].n &&
		     d->tasks[i].spec.body.p[0] == '{');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct draft d = {.now_ms = 1800000000000, .salt = "0123456789abcdef"};
	char *text = xmalloc(size + 1);

	memcpy(text, data, size);
	d.text = (struct str){text, size};
	draft_read(&d);
	if (!d.problem.code)
		check(&d);
	draft_release(&d);
	return 0;
}
