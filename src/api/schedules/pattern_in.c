/* SPDX-License-Identifier: Apache-2.0 */
/* A pattern of times in one of its three spellings, and the zone that its wall clock is in. */
#include "api/schedules/schedule_in.h"

#include <stdio.h>
#include <string.h>

void pattern_in_find(const json_t *body, struct pattern_members *ret)
{
	*ret = (struct pattern_members){
	    .crontab = json_object_get(body, "crontab"),
	    .calendar = json_object_get(body, "calendar"),
	    .items = json_object_get(body, "items"),
	    .dst = json_object_get(body, "dst"),
	    .zone = json_object_get(body, "time_zone"),
	};
}

bool pattern_in_given(const struct pattern_members *m)
{
	return m->crontab || m->calendar || m->items || m->dst || m->zone;
}

static int bad(struct call *c, const char *field, const char *what, const char *hint)
{
	problem_set(&c->problem, ERR_INVALID, "%s", what);
	if (hint)
		problem_hint(&c->problem, "%s", hint);
	return problem_field(&c->problem, field);
}

/* A pattern that never matches is the request's fault: there is nothing to be found. The place in
 * a text is said in words already. */
static int pattern_problem(struct call *c, const char *field)
{
	c->problem.code = ERR_INVALID;
	problem_field(&c->problem, field);
	return ERR_INVALID;
}

/* "items[1].hour": the path within is the reader's. */
static int items_problem(struct call *c)
{
	char field[sizeof c->problem.field];
	const char *path = c->problem.field;
	bool named = (path[0] >= 'a' && path[0] <= 'z') && !strchr(path, ' ');

	snprintf(field, sizeof field, "items%s%.50s", named ? "." : "",
	    named || path[0] == '[' ? path : "");
	return pattern_problem(c, field);
}

/* "vixie", "skip,repeat_use_both", or the two words as a list. */
static int read_dst(struct call *c, const json_t *v, struct cron_dst *ret_dst)
{
	struct str text = STR_NULL;
	const json_t *a = json_array_get(v, 0), *b = json_array_get(v, 1);

	if (json_is_array(v) && json_array_size(v) == 2 && json_is_string(a) && json_is_string(b))
		text = arena_strf(&c->arena, "%s,%s", json_string_value(a), json_string_value(b));
	else if (json_is_string(v))
		text = (struct str){json_string_value(v), json_string_length(v)};
	else
		return bad(c, "dst", "\"dst\" is neither a word nor a list of two",
		    "\"vixie\", or for example [\"unskip\", \"repeat_use_only_early\"]");
	if (text.n > CRON_TEXT_MAX)
		return bad(c, "dst", "\"dst\" is too long", NULL);
	return cron_dst_parse(text, ret_dst, &c->problem) ? pattern_problem(c, "dst") : 0;
}

struct spelling {
	const char *name;
	int (*read)(struct str text, const struct cron_dst *dst, struct cron_items *ret_items,
	    struct problem *p);
};
static const struct spelling spellings[] = {
    {"crontab", cron_items_crontab}, {"calendar", cron_items_calendar}};

static int read_text(
    struct call *c, const struct spelling *s, struct str text, const json_t *dst, struct pattern *p)
{
	struct cron_dst given;

	if (dst && read_dst(c, dst, &given))
		return ERR_INVALID;
	if (s->read(text, dst ? &given : NULL, &p->items, &c->problem))
		return pattern_problem(c, s->name);
	p->source = arena_strf(&c->arena, "%s " STR_FMT, s->name, STR_ARG(text));
	return 0;
}

/* Items of both sorts would share one position, and a zone that is moved would move the epoch
 * items, too. */
static int refuse_mixture(struct call *c, const struct cron_items *items)
{
	for (size_t i = 1; i < items->n; i++)
		if (items->items[i].is_epoch != items->items[0].is_epoch)
			return bad(c, "items", "\"epoch\" and wall-clock items do not go together",
			    "make two schedules of them");
	return 0;
}

static int read_items(struct call *c, const struct pattern_members *m, struct pattern *p)
{
	struct buf text = {0};
	int rc;

	if (m->dst)
		return bad(c, "dst", "\"dst\" does not go with \"items\"",
		    "each item says it itself, as \"dst_fixes\"");
	if (json_in_depth(m->items, "items", &c->problem))
		return ERR_INVALID;
	jw_value(&text, m->items);
	rc = text.n > CRON_TEXT_MAX ? bad(c, "", "\"items\" has more than 16384 bytes",
	                                  "write several schedules instead")
	                            : cron_items_json(buf_str(&text), &p->items, &c->problem);
	buf_release(&text);
	return rc ? items_problem(c) : refuse_mixture(c, &p->items);
}

/* A change that gives only the zone, or only what daylight saving shall do. */
static int read_old(struct call *c, const struct pattern_members *m,
    const struct schedule_view *old, struct pattern *p)
{
	struct str rest = old->row.source, word;

	if (!m->dst) {
		p->source = old->row.source;
		return cron_items_json(old->row.items, &p->items, &c->problem)
		           ? pattern_problem(c, "items")
		           : 0;
	}
	str_next(&rest, ' ', &word);
	for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++)
		if (rest.p && str_is(word, spellings[i].name))
			return read_text(c, &spellings[i], rest, m->dst, p);
	return bad(c, "dst", "the schedule was given as items, which say it themselves",
	    "give its \"items\" anew, with other \"dst_fixes\"");
}

static int read_pattern(struct call *c, const struct pattern_members *m,
    const struct schedule_view *old, struct pattern *p)
{
	int n = (m->crontab != NULL) + (m->calendar != NULL) + (m->items != NULL);
	const struct spelling *s = &spellings[m->calendar != NULL];
	struct str text;

	if (n > 1)
		return bad(c, m->items ? "items" : "calendar",
		    "the pattern is given more than once",
		    "give one of \"crontab\", \"calendar\" and \"items\"");
	if (n == 0 && old)
		return read_old(c, m, old, p);
	if (n == 0)
		return bad(c, "crontab", "nothing says when it shall run",
		    "give one of \"crontab\" (\"30 2 * * *\"), \"calendar\" (\"Mon *-*-* "
		    "02:30\") and \"items\"");
	if (m->items)
		return read_items(c, m, p);
	if (json_in_str(
	        m->crontab ? m->crontab : m->calendar, s->name, CRON_TEXT_MAX, &text, &c->problem))
		return ERR_INVALID;
	return read_text(c, s, text, m->dst, p);
}

static int two_zones(struct call *c, struct str given, const char *own)
{
	problem_set(&c->problem, ERR_INVALID,
	    "\"time_zone\" is \"%.*s\", and the pattern itself says %.100s",
	    given.n > 100 ? 100 : (int)given.n, given.p, own);
	problem_hint(&c->problem, "leave one of them out");
	return problem_field(&c->problem, "time_zone");
}

/* Which zone is meant; NULL when there is no wall clock in it. */
static int name_zone(struct call *c, const struct pattern_members *m,
    const struct schedule_view *old, struct pattern *p)
{
	struct str given = STR_NULL;

	if (m->zone && !json_is_null(m->zone) &&
	    json_in_str(m->zone, "time_zone", ZONE_NAME_MAX, &given, &c->problem))
		return ERR_INVALID;
	if (!cron_items_use_zone(&p->items)) {
		if (given.p)
			return bad(c, "time_zone", "seconds since 1970 are the same in every zone",
			    "leave \"time_zone\" out");
		return 0;
	}
	if (p->items.zone && given.p && !str_is(given, p->items.zone))
		return two_zones(c, given, p->items.zone);
	if (p->items.zone)
		given = str_of(p->items.zone);
	else if (!given.p && !m->zone && old)
		given = old->row.zone;
	if (!given.p)
		return bad(c, "time_zone", "a wall clock's times need a zone",
		    "give \"time_zone\": \"Europe/Berlin\", \"UTC\", or \"local\" for the "
		    "server's own");
	p->zone = arena_str(&c->arena, given);
	return 0;
}

int pattern_in_make(struct call *c, const struct pattern_members *m,
    const struct schedule_view *old, struct pattern *p)
{
	struct buf text = {0};
	int rc;

	*p = (struct pattern){0};
	rc = read_pattern(c, m, old, p);
	if (!rc)
		rc = name_zone(c, m, old, p);
	if (!rc && p->zone.p) {
		rc = c->host->zone(c->host->arg, p->zone, &p->ref, &c->problem);
		if (rc == ERR_NOT_FOUND)
			rc = c->problem.code = ERR_INVALID;
		if (rc)
			problem_field(&c->problem, "time_zone");
	}
	if (rc) {
		pattern_in_release(p);
		return rc;
	}
	cron_items_write(&p->items, &text);
	p->text = arena_str(&c->arena, buf_str(&text));
	buf_release(&text);
	return 0;
}

void pattern_in_release(struct pattern *p)
{
	cron_items_release(&p->items);
	if (p->ref)
		zone_ref_drop(p->ref);
	p->ref = NULL;
}
