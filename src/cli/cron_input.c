/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cron_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"

static int read_all(struct cli *c, const char *path, struct buf *ret_text)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
	char chunk[4096];
	size_t n;
	bool bad;

	if (!f)
		return problem_set(
		    &c->problem, ERR_INVALID, "can not read %.200s: %s", path, strerror(errno));
	while (ret_text->n <= CRON_TEXT_MAX && (n = fread(chunk, 1, sizeof chunk, f)) > 0)
		buf_add(ret_text, chunk, n);
	bad = ferror(f);
	if (f != stdin)
		fclose(f);
	if (bad)
		return problem_set(&c->problem, ERR_IO, "can not read %.200s", path);
	if (ret_text->n > CRON_TEXT_MAX)
		return problem_set(&c->problem, ERR_TOO_LARGE,
		    "%.200s is longer than %d bytes: that is no schedule", path, CRON_TEXT_MAX);
	while (ret_text->n > 0 && strchr("\r\n", ret_text->p[ret_text->n - 1]))
		ret_text->p[--ret_text->n] = 0;
	return 0;
}

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

static int read_zone(struct cli *c, bool needs_zone, struct cron_input *in)
{
	const char *given = options_get(&c->options, "tz");

	/* A zone that the text names is part of the schedule. */
	in->zone_name = in->items.zone ? in->items.zone : given;
	if (!in->zone_name && needs_zone && cron_items_use_zone(&in->items)) {
		problem_set(&c->problem, ERR_INVALID, "a wall clock's times need a zone");
		return problem_hint(&c->problem, "--tz Europe/Berlin, --tz UTC or --tz local");
	}
	if (!in->zone_name)
		in->zone_name = "UTC";
	return cron_input_zone(c, in->zones, in->zone_name, &in->zone);
}

int cron_input_read(struct cli *c, bool needs_zone, struct cron_input *ret_input)
{
	AUTO(buf_release) struct buf file = {0};
	const char *kind = NULL, *given;
	int r = pick_kind(c, &kind);

	*ret_input = (struct cron_input){0};
	if (r < 0)
		return r;
	given = options_get(&c->options, kind);
	if (!strcmp(given, "-") || given[0] == '@') {
		/* "@daily" is a schedule, not a file. */
		bool is_file = strcmp(kind, "crontab") || given[0] == '-';

		if (is_file && (r = read_all(c, given + (given[0] == '@'), &file)) < 0)
			return r;
		given = is_file ? (file.p ? file.p : "") : given;
	}
	r = parse(c, kind, file.p ? buf_str(&file) : str_of(given), &ret_input->items);
	if (r < 0)
		return r;
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
		    &c->problem, ERR_INVALID, "can not read %.200s: %s", path, strerror(errno));
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
		r = problem_set(&c->problem, ERR_IO, "can not read %.200s", path);
	if (f != stdin)
		fclose(f);
	return r;
}
