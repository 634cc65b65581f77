/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cron/cron_reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cron/cron_input.h"
#include "cron/engine.h"
#include "wire/json/json_in.h"

#define MONOTONIC_MAX_S 1e12
#define NUMBER_MAX 40

static int set_system(struct cron_written *w, struct str text, struct problem *p)
{
	int64_t ms;

	if (cron_time_parse(text, &ms, p) < 0)
		return p->code;
	w->system = ms / 1000 - (ms % 1000 < 0);
	return 0;
}

static int set_monotonic(struct cron_written *w, double seconds, struct problem *p)
{
	if (!(seconds >= 0 && seconds <= MONOTONIC_MAX_S)) {
		problem_set(p, ERR_INVALID, "the monotonic clock is not a number of seconds");
		return problem_hint(p, "from 0 on, as 12.5; - when it is unknown");
	}
	w->monotonic_ms = (int64_t)(seconds * 1000 + 0.5);
	return 0;
}

static int set_zone(struct cron_written *w, struct str name, struct problem *p)
{
	if (name.n > ZONE_NAME_MAX)
		return problem_set(
		    p, ERR_INVALID, "the zone's name is longer than %d bytes", ZONE_NAME_MAX);
	memcpy(w->zone, name.p, name.n);
	w->zone[name.n] = 0;
	return 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* A word that begins with # ends the line. */
static bool next_word(struct str *rest, struct str *ret_word)
{
	size_t n = 0;

	while (rest->n > 0 && is_blank(*rest->p))
		*rest = (struct str){rest->p + 1, rest->n - 1};
	while (n < rest->n && !is_blank(rest->p[n]))
		n++;
	*ret_word = (struct str){rest->p, n};
	*rest = (struct str){rest->p + n, rest->n - n};
	return n > 0 && *ret_word->p != '#';
}

static double number_of(struct str word)
{
	char text[NUMBER_MAX], *end;
	double value;

	if (word.n >= sizeof text)
		return -1;
	memcpy(text, word.p, word.n);
	text[word.n] = 0;
	value = strtod(text, &end);
	return end == text + word.n ? value : -1;
}

static int read_words(struct str line, struct cron_written *w, struct problem *p)
{
	struct str system, monotonic, zone, more;
	int r;

	if (!next_word(&line, &system) || !next_word(&line, &monotonic))
		return problem_set(p, ERR_INVALID, "this is not a reading");
	r = set_system(w, system, p);
	if (r == 0 && !str_is(monotonic, "-"))
		r = set_monotonic(w, number_of(monotonic), p);
	if (r < 0 || !next_word(&line, &zone))
		return r;
	if (next_word(&line, &more))
		return problem_set(p, ERR_INVALID, "there is more after the zone");
	return set_zone(w, zone, p);
}

static int member_system(json_t *v, const char *field, void *arg, struct problem *p)
{
	char seconds[NUMBER_MAX];

	if (!json_is_integer(v) && !json_is_string(v))
		return json_in_wrong(v, field, "seconds since 1970, or a time as text", p);
	snprintf(seconds, sizeof seconds, "%lld", (long long)json_integer_value(v));
	return set_system(arg, str_of(json_is_integer(v) ? seconds : json_string_value(v)), p);
}

static int member_monotonic(json_t *v, const char *field, void *arg, struct problem *p)
{
	if (json_is_null(v))
		return 0;
	return set_monotonic(arg, json_is_number(v) ? json_number_value(v) : -1, p);
}

static int member_zone(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct str name;
	int r = json_in_str(v, field, ZONE_NAME_MAX, &name, p);

	return r < 0 ? r : set_zone(arg, name, p);
}

static int read_object(struct str line, struct cron_written *w, struct problem *p)
{
	static const struct json_member members[] = {
	    {"system", member_system}, {"monotonic", member_monotonic}, {"zone", member_zone}};
	AUTO(json_drop) json_t *j = NULL;
	int r = json_in_parse(line, &j, p);

	if (r == 0)
		r = json_in_members(j, "", members, sizeof members / sizeof members[0], w, p);
	if (r < 0 || json_object_get(j, "system"))
		return r;
	problem_set(p, ERR_INVALID, "\"system\" is missing");
	return problem_hint(p, "what the system's clock said: {\"system\": 1800000000}");
}

int cron_reading_parse(struct str line, struct cron_written *ret_written, struct problem *p)
{
	struct cron_written w = {.monotonic_ms = CRON_NO_MONOTONIC};
	struct str rest = line, first;
	int r = 0;

	if (!next_word(&rest, &first))
		w.is_remark = true;
	else if (*first.p == '{')
		r = read_object(line, &w, p);
	else
		r = read_words(line, &w, p);
	if (r == 0)
		*ret_written = w;
	return r;
}
