/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cron/cron_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/tasks/work.h"

static int read_dst(struct cli *c, const char *kind, struct cron_dst *ret_dst)
{
	const char *given = options_get(&c->options, "dst");

	*ret_dst = (struct cron_dst){.mode = CRON_DST_VIXIE};
	if (!given)
		return 0;
	if (!strcmp(kind, "item")) {
		problem_set(&c->problem, ERR_INVALID, "--dst does not go with --item");
		return problem_hint(&c->problem, "an item says it itself, in \"dst_fixes\"");
	}
	return cron_dst_parse(str_of(given), ret_dst, &c->problem);
}

static int parse(struct cli *c, const char *kind, struct str text, struct cron_items *ret_items)
{
	struct cron_dst dst;
	int r = read_dst(c, kind, &dst);

	if (r < 0)
		return r;
	if (!strcmp(kind, "item"))
		return cron_items_json(text, ret_items, &c->problem);
	if (!strcmp(kind, "crontab"))
		return cron_items_crontab(text, &dst, ret_items, &c->problem);
	return cron_items_calendar(text, &dst, ret_items, &c->problem);
}

/* Exactly one of the three ways to say when. */
static int pick_kind(struct cli *c, const char **ret_kind)
{
	static const char *const kinds[] = {"item", "crontab", "calendar"};
	size_t n = 0;

	for (size_t i = 0; i < 3; i++)
		if (options_given(&c->options, kinds[i])) {
			*ret_kind = kinds[i];
			n++;
		}
	if (n == 1)
		return 0;
	problem_set(&c->problem, ERR_INVALID,
	    n ? "only one of --item, --crontab and --calendar can be given" : "no schedule given");
	return n ? c->problem.code
	         : problem_hint(&c->problem,
	               "--item JSON, --crontab '30 2 * * *' or --calendar 'Mon 09:00'");
}

int cron_input_zone(
    struct cli *c, struct zones *zones, const char *name, struct zone_ref **ret_zone)
{
	int r = zones_get(zones, str_of(name), ret_zone, &c->problem);

	return r == ERR_NOT_FOUND ? (c->problem.code = ERR_INVALID) : r;
}

int cron_zone_missing(struct cli *c)
{
	problem_set(&c->problem, ERR_INVALID, "a wall clock's times need a zone");
	return problem_hint(&c->problem, "--tz Europe/Berlin, --tz UTC or --tz local");
}

static int read_zone(struct cli *c, bool needs_zone, struct cron_input *in)
{
	const char *given = options_get(&c->options, "tz");

	/* A zone that the text names is part of the pattern. */
	in->zone_name = in->items.zone ? in->items.zone : given;
	if (!in->zone_name && needs_zone && cron_items_use_zone(&in->items))
		return cron_zone_missing(c);
	if (!in->zone_name)
		in->zone_name = "UTC";
	return cron_input_zone(c, in->zones, in->zone_name, &in->zone);
}

/* "@daily" is a pattern, and "@1800000000" systemd's way to write a time, which is refused. */
static bool names_file(const char *kind, const char *given)
{
	if (given[0] != '@' || !strcmp(kind, "crontab"))
		return false;
	return strcmp(kind, "calendar") || given[1 + strspn(given + 1, "0123456789.")] != 0;
}

int cron_pattern_read(struct cli *c, struct cron_pattern *ret_pattern)
{
	AUTO(buf_release) struct buf text = {0};
	const char *kind = NULL, *given;
	int r = pick_kind(c, &kind);

	*ret_pattern = (struct cron_pattern){0};
	if (r < 0)
		return r;
	given = options_get(&c->options, kind);
	if (!strcmp(given, "-") || names_file(kind, given))
		r = input_read(c, given + (given[0] == '@'), CRON_TEXT_MAX, &text);
	else
		buf_add_cstr(&text, given);
	if (r < 0 || (r = parse(c, kind, buf_str(&text), &ret_pattern->items)) < 0)
		return r;
	ret_pattern->kind = kind;
	ret_pattern->text = text;
	text = (struct buf){0};
	return 0;
}

void cron_pattern_release(struct cron_pattern *p)
{
	cron_items_release(&p->items);
	buf_release(&p->text);
}

int cron_input_read(struct cli *c, bool needs_zone, struct cron_input *ret_input)
{
	struct cron_pattern p;
	int r = cron_pattern_read(c, &p);

	*ret_input = (struct cron_input){0};
	if (r < 0)
		return r;
	ret_input->items = p.items;
	buf_release(&p.text);
	ret_input->zones = zones_new(NULL);
	r = read_zone(c, needs_zone, ret_input);
	if (r < 0)
		cron_input_release(ret_input);
	return r;
}

void cron_input_release(struct cron_input *in)
{
	cron_items_release(&in->items);
	if (in->zone)
		zone_ref_drop(in->zone);
	if (in->zones)
		zones_free(in->zones);
	*in = (struct cron_input){0};
}

int cron_time_parse(struct str text, int64_t *ret_ms, struct problem *p)
{
	int64_t seconds;

	if (str_to_i64(text, -CRON_TIME_MAX, CRON_TIME_MAX, &seconds)) {
		*ret_ms = seconds * 1000;
		return 0;
	}
	if (time_parse(text, ret_ms))
		return 0;
	problem_set(p, ERR_INVALID, "\"%.*s\" is not a time", text.n < 64 ? (int)text.n : 64,
	    text.n ? text.p : "");
	return problem_hint(p, "seconds since 1970, or as 2027-03-28T01:30:00+01:00");
}

int cron_each_line(struct cli *c, const char *path,
    int (*each)(struct str line, size_t number, void *arg), void *arg)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
	static char line[CRON_TEXT_MAX + 2];
	int r = 0;

	if (!f)
		return problem_set(
		    &c->problem, ERR_INVALID, "cannot read %.200s: %s", path, strerror(errno));
	for (size_t number = 1; r == 0 && fgets(line, sizeof line, f); number++) {
		size_t n = strlen(line);

		while (n > 0 && strchr("\r\n", line[n - 1]))
			n--;
		if (n > CRON_TEXT_MAX) {
			r = problem_set(&c->problem, ERR_TOO_LARGE,
			    "line %zu is longer than %d bytes", number, CRON_TEXT_MAX);
			break;
		}
		line[n] = 0;
		r = each((struct str){line, n}, number, arg);
	}
	if (r == 0 && ferror(f))
		r = problem_set(&c->problem, ERR_IO, "cannot read %.200s", path);
	if (f != stdin)
		fclose(f);
	return r;
}
