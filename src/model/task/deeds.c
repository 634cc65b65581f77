/* SPDX-License-Identifier: Apache-2.0 */
#include "model/task/deeds.h"

#include "model/limits.h"
#include "model/lines.h"

const char *const deed_names[N_DEEDS] = {
#define X(id, name) [DEED_##id] = name,
    DEED_TABLE(X)
#undef X
};

static int64_t last_number(struct str deeds)
{
	struct deed d = {0};

	while (deeds_next(&deeds, &d))
		;
	return d.number;
}

static struct str line_of(struct arena *a, int64_t n, const struct deed *d)
{
	return arena_strf(a, "%lld\t%lld\t%s\t%d\t%d\t" STR_FMT "\t" STR_FMT "\n", (long long)n,
	    (long long)d->time_ms, deed_names[d->verb], d->status, d->attempt,
	    STR_ARG(lines_flat(a, d->actor)), STR_ARG(lines_flat(a, d->reason)));
}

struct str deeds_append(struct arena *a, struct str deeds, const struct deed *d)
{
	return lines_append(a, deeds, line_of(a, last_number(deeds) + 1, d), DEEDS_MAX_BYTES);
}

struct str deeds_held(struct arena *a, int64_t time_ms, int32_t status)
{
	return line_of(
	    a, 0, &(struct deed){.time_ms = time_ms, .verb = DEED_HOLD, .status = status});
}

static bool number(struct str *line, int64_t *ret_n)
{
	struct str part;

	return str_next(line, '\t', &part) && str_to_i64(part, INT64_MIN, INT64_MAX, ret_n);
}

static bool verb(struct str *line, enum deed_verb *ret_verb)
{
	struct str part;

	if (!str_next(line, '\t', &part))
		return false;
	for (int i = 0; i < N_DEEDS; i++)
		if (str_is(part, deed_names[i])) {
			*ret_verb = (enum deed_verb)i;
			return true;
		}
	return false;
}

bool deeds_next(struct str *rest, struct deed *ret)
{
	struct str line, actor;
	struct deed d = {0};
	int64_t status, attempt;

	if (!rest->p || rest->n == 0 || !str_next(rest, '\n', &line))
		return false;
	if (!number(&line, &d.number) || !number(&line, &d.time_ms) || !verb(&line, &d.verb) ||
	    !number(&line, &status) || !number(&line, &attempt) || !str_next(&line, '\t', &actor))
		return false;
	d.status = (int32_t)status;
	d.attempt = (int32_t)attempt;
	d.actor = actor;
	d.reason = line;
	*ret = d;
	return true;
}
