/* SPDX-License-Identifier: Apache-2.0 */
#include "server/workers/newcomers.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

#define KEPT 64
#define MINUTE_MS 60000

/* Whole numbers, so that nothing is lost to rounding: one newcomer
 * costs MINUTE_MS, each millisecond gives `per_minute`. */
struct measure {
	rid token;
	bool used;
	int64_t have, at_ms;
};

struct newcomers {
	int64_t per_minute;
	struct measure measures[KEPT];
	char why[160];
};

struct newcomers *newcomers_new(int64_t per_minute)
{
	struct newcomers *n = xcalloc(1, sizeof *n);

	n->per_minute = per_minute;
	snprintf(n->why, sizeof n->why,
	    "its join token has brought %lld new workers in a minute, which is the limit "
	    "(server.limits.joins_per_minute): it tries again",
	    (long long)per_minute);
	return n;
}

void newcomers_free(struct newcomers *n)
{
	free(n);
}

const char *newcomers_why(const struct newcomers *n)
{
	return n->why;
}

static void refill(const struct newcomers *n, struct measure *m, int64_t mono_ms)
{
	int64_t full = n->per_minute * MINUTE_MS, passed = mono_ms - m->at_ms;

	m->have = passed >= MINUTE_MS ? full : m->have + passed * n->per_minute;
	if (m->have > full)
		m->have = full;
	m->at_ms = mono_ms;
}

/* The token's own measure; else a free one, or the fullest. */
static struct measure *measure_of(struct newcomers *n, rid token, int64_t mono_ms)
{
	struct measure *fullest = NULL;

	for (size_t i = 0; i < KEPT; i++) {
		struct measure *m = &n->measures[i];

		if (m->used)
			refill(n, m, mono_ms);
		else
			*m = (struct measure){.have = INT64_MAX, .at_ms = mono_ms};
		if (m->used && m->token == token)
			return m;
		if (!fullest || m->have > fullest->have)
			fullest = m;
	}
	if (fullest->have > n->per_minute * MINUTE_MS)
		fullest->have = n->per_minute * MINUTE_MS;
	fullest->token = token;
	fullest->used = true;
	return fullest;
}

bool newcomers_take(struct newcomers *n, rid token, int64_t mono_ms)
{
	struct measure *m;

	if (!n->per_minute)
		return true;
	m = measure_of(n, token, mono_ms);
	if (m->have < MINUTE_MS)
		return false;
	m->have -= MINUTE_MS;
	return true;
}
