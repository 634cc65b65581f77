/* SPDX-License-Identifier: Apache-2.0 */
/* Percentiles, and numbers rounded to what was really measured. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/internal.h"

void samples_release(struct samples *s)
{
	free(s->ns);
	*s = (struct samples){0};
}

void samples_add(struct samples *s, int64_t ns)
{
	GROW(s->ns, s->cap, s->n + 1);
	s->ns[s->n++] = ns;
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

double samples_ms(struct samples *s, double quantile)
{
	size_t at = (size_t)((double)s->n * quantile);

	if (s->n == 0)
		return NAN;
	qsort(s->ns, s->n, sizeof *s->ns, by_size);
	return (double)s->ns[at < s->n ? at : s->n - 1] / 1e6;
}

json_t *samples_json(struct samples *s)
{
	return json_pack("{s:I,s:o,s:o,s:o}", "samples", (json_int_t)s->n, "p50_ms",
	    figure(samples_ms(s, 0.50)), "p99_ms", figure(samples_ms(s, 0.99)), "max_ms",
	    figure(samples_ms(s, 1)));
}

json_t *figure(double x)
{
	char text[32];

	if (!isfinite(x))
		return json_null();
	snprintf(text, sizeof text, "%.4g", x);
	x = strtod(text, NULL);
	return fabs(x) >= 1000 ? json_integer((json_int_t)x) : json_real(x);
}

double figure_get(const json_t *o, const char *path)
{
	struct str rest = str_of(path), part;

	while (o && str_next(&rest, '.', &part)) {
		AUTO(free_cstr) char *name = xstrndup(part.p, part.n);

		o = json_object_get(o, name);
	}
	return json_is_number(o) ? json_number_value(o) : NAN;
}
