/* SPDX-License-Identifier: Apache-2.0 */
/* How long the server's brain takes to compute the worker set's consensus once, over so many. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "bench/internal.h"
#include "core/workers/consensus.h"

#define ROUNDS 9
#define SERVER 1

enum shape {
	SHAPE_OWN,    /* each knows the set that it came into: nobody knows the later ones */
	SHAPE_NEWEST, /* all know the newest */
	SHAPE_MIXED,  /* each knows any one that it can know */
	N_SHAPES,
};

static const char *const shape_names[N_SHAPES] = {
    [SHAPE_OWN] = "own_set_known_ms",
    [SHAPE_NEWEST] = "newest_set_known_ms",
    [SHAPE_MIXED] = "mixed_ms",
};

static void gather(struct consensus *s, struct member *m, size_t n, enum shape shape)
{
	struct rng rng = {7};

	consensus_init(s, SERVER, UINT32_MAX);
	for (size_t i = 0; i < n; i++) {
		m[i] = (struct member){0};
		consensus_join(s, &m[i], i + 1, NULL);
	}
	for (size_t i = 0; i < n; i++) {
		struct set_id said = {.server = SERVER, .version = s->id.version};

		consensus_told(s, &m[i]);
		if (shape == SHAPE_OWN)
			said.version = m[i].joined;
		else if (shape == SHAPE_MIXED)
			said.version =
			    m[i].joined + rng_below(&rng, s->id.version - m[i].joined + 1);
		consensus_repeated(s, &m[i], &said);
	}
}

json_t *consensus_json(size_t n)
{
	struct member *members = xcalloc(n, sizeof *members);
	json_t *json = json_pack("{s:I}", "members", (json_int_t)n);
	double worst = 0;

	for (int shape = 0; shape < N_SHAPES; shape++) {
		struct samples times = {0};

		for (int i = 0; i < ROUNDS; i++) {
			struct consensus s;
			int64_t start;

			gather(&s, members, n, (enum shape)shape);
			start = bench_ns();
			consensus_update(&s);
			samples_add(&times, bench_ns() - start);
		}
		if (samples_ms(&times, 1) > worst)
			worst = samples_ms(&times, 1);
		json_object_set_new(json, shape_names[shape], figure(samples_ms(&times, 0.5)));
		samples_release(&times);
	}
	json_object_set_new(json, "worst_ms", figure(worst));
	free(members);
	return json;
}
