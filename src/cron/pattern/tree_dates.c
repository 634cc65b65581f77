/* SPDX-License-Identifier: Apache-2.0 */
/* The members of an item that name weekdays of a month, and dates to count from. */
#include "base/mem.h"
#include "cron/pattern/tree.h"
#include "cron/zone/civil.h"

#define WEEK_DAYS 7

static int need_object(struct tree *t, const json_t *v, const char *example)
{
	if (json_is_object(v))
		return ERR_OK;
	tree_bad(t, ERR_INVALID, "an object is wanted, not %s", tree_kind(v));
	problem_hint(t->p, "for example %s", example);
	return ERR_INVALID;
}

static int read_nth_value(struct tree *t, const json_t *v, uint32_t *rows)
{
	static const struct selector weeks = {.min = 1, .max = 5};
	int64_t n;
	int rc;

	if (json_is_string(v) && str_is(tree_str(v), "last")) {
		*rows |= 1u << CRON_WEEK_LAST;
		return ERR_OK;
	}
	if ((rc = tree_value(t, v, &weeks, &n))) {
		problem_hint(t->p, "1 to 5, or \"last\"");
		return rc;
	}
	*rows |= 1u << (n - 1);
	return ERR_OK;
}

static int read_nth(struct tree *t, const json_t *v, uint32_t *rows)
{
	size_t mark;
	int rc;

	if (!json_is_array(v))
		return read_nth_value(t, v, rows);
	for (size_t i = 0; i < json_array_size(v); i++) {
		mark = tree_index(t, i);
		if ((rc = read_nth_value(t, json_array_get(v, i), rows)))
			return rc;
		tree_up(t, mark);
	}
	if (*rows)
		return ERR_OK;
	tree_bad(t, ERR_INVALID, "the list is empty");
	problem_hint(t->p, "1 to 5, or \"last\"");
	return ERR_INVALID;
}

static int read_weekdays(struct tree *t, const json_t *v, uint8_t *ret_weekdays)
{
	AUTO(ranges_release) struct ranges days = {0};
	int rc = tree_selector(t, v, &weekday_selector, &days);

	*ret_weekdays = rc ? 0 : (uint8_t)ranges_bits(&days, 1);
	return rc;
}

static int read_weekday_of_month(struct tree *t, const json_t *v, struct cron_item *it)
{
	static const char *const keys[] = {"day", "nth"};
	static const char example[] = "{\"day\": \"Tue\", \"nth\": 1}";
	const json_t *day, *nth;
	uint8_t weekdays;
	uint32_t rows = 0;
	size_t mark;
	int rc;

	if ((rc = need_object(t, v, example)) || (rc = tree_check_keys(t, v, keys, 2)) ||
	    (rc = tree_need(t, v, "day", example, &day)) ||
	    (rc = tree_need(t, v, "nth", example, &nth)))
		return rc;
	mark = tree_key(t, "day");
	if ((rc = read_weekdays(t, day, &weekdays)))
		return rc;
	tree_up(t, mark);
	tree_key(t, "nth");
	if ((rc = read_nth(t, nth, &rows)))
		return rc;
	tree_up(t, mark);
	for (size_t i = 0; i <= CRON_WEEK_LAST; i++)
		it->nth[i] |= rows >> i & 1 ? weekdays : 0;
	return ERR_OK;
}

int tree_weekday_of_month(struct tree *t, const json_t *v, struct cron_item *it)
{
	size_t mark;
	int rc;

	if (!json_is_array(v) || json_array_size(v) == 0)
		return read_weekday_of_month(t, v, it);
	for (size_t i = 0; i < json_array_size(v); i++) {
		mark = tree_index(t, i);
		if ((rc = read_weekday_of_month(t, json_array_get(v, i), it)))
			return rc;
		tree_up(t, mark);
	}
	return ERR_OK;
}

/* "2027-01-04", or "2027-01" for the first of that month. */
static bool parse_date(struct str s, bool has_day, int64_t *ret_days)
{
	struct str part;
	int64_t year, month, day = 1;

	if (s.n != (has_day ? 10 : 7) || !str_next(&s, '-', &part) || part.n != 4 ||
	    !str_to_i64(part, CRON_YEAR_MIN, CRON_YEAR_MAX, &year))
		return false;
	if (!str_next(&s, '-', &part) || part.n != 2 || !str_to_i64(part, 1, 12, &month))
		return false;
	if (has_day &&
	    (!str_next(&s, '-', &part) || part.n != 2 ||
	        !str_to_i64(part, 1, civil_month_days((int32_t)year, (int32_t)month), &day)))
		return false;
	if (s.p)
		return false;
	*ret_days = civil_days((int32_t)year, (int32_t)month, (int32_t)day);
	return true;
}

static int read_date(
    struct tree *t, const json_t *object, const char *key, bool has_day, int64_t *ret_days)
{
	const json_t *v = json_object_get(object, key);
	size_t mark = tree_key(t, key);

	if (!v || !json_is_string(v) || !parse_date(tree_str(v), has_day, ret_days)) {
		tree_bad(t, ERR_INVALID, v ? "this is no date" : "is missing");
		problem_hint(t->p, "a date that exists, from 1970 to 9999, as text: %s",
		    has_day ? "\"2027-01-04\"" : "\"2027-01\"");
		return ERR_INVALID;
	}
	tree_up(t, mark);
	return ERR_OK;
}

static int read_period(struct tree *t, const json_t *object, int64_t *ret_period)
{
	static const struct selector periods = {.min = 1, .max = 1000000};
	const json_t *v;
	size_t mark;
	int rc = tree_need(t, object, "period", "\"period\": 2 is every other one", &v);

	if (rc)
		return rc;
	mark = tree_key(t, "period");
	rc = tree_value(t, v, &periods, ret_period);
	if (rc == ERR_OK)
		tree_up(t, mark);
	return rc;
}

static int64_t month_number(int64_t days)
{
	int32_t year, month, day;

	civil_from_days(days, &year, &month, &day);
	return (int64_t)(year - CRON_YEAR_MIN) * 12 + month - 1;
}

/* {"start", "period", "end"?}: start and end as days since 1970. */
static int read_iteration(
    struct tree *t, const json_t *v, bool has_day, bool has_weekday, struct cron_range *r)
{
	static const char *const keys[] = {"start", "period", "end", "day"};
	int rc;

	r->end = civil_days(CRON_YEAR_MAX, 12, 31);
	if ((rc = need_object(t, v, "{\"start\": \"2027-01-04\", \"period\": 3}")) ||
	    (rc = tree_check_keys(t, v, keys, has_weekday ? 4 : 3)) ||
	    (rc = read_date(t, v, "start", has_day, &r->start)) ||
	    (rc = read_period(t, v, &r->period)))
		return rc;
	if (json_object_get(v, "end") && (rc = read_date(t, v, "end", has_day, &r->end)))
		return rc;
	if (r->end >= r->start)
		return ERR_OK;
	tree_bad(t, ERR_NOT_FOUND, "it ends before it starts, so nothing will ever match");
	problem_hint(t->p, "put the later date into \"end\"");
	return ERR_NOT_FOUND;
}

int tree_iter_day(struct tree *t, const json_t *v, struct cron_item *it)
{
	return read_iteration(t, v, true, false, &it->iter_day);
}

int tree_iter_month(struct tree *t, const json_t *v, struct cron_item *it)
{
	int rc = read_iteration(t, v, false, false, &it->iter_month);

	if (rc == ERR_OK) {
		it->iter_month.start = month_number(it->iter_month.start);
		it->iter_month.end = month_number(it->iter_month.end);
	}
	return rc;
}

int tree_iter_week(struct tree *t, const json_t *v, struct cron_item *it)
{
	struct cron_range *r = &it->iter_week;
	const json_t *day;
	int64_t weekday;
	size_t mark;
	int rc;

	if ((rc = read_iteration(t, v, true, true, r)) ||
	    (rc = tree_need(t, v, "day", "\"day\": \"Tue\" says which weekday", &day)))
		return rc;
	mark = tree_key(t, "day");
	if ((rc = tree_value(t, day, &weekday_selector, &weekday)))
		return rc;
	tree_up(t, mark);
	r->start += (weekday - 1 - civil_weekday(r->start) + WEEK_DAYS) % WEEK_DAYS;
	if (r->start <= r->end)
		return ERR_OK;
	tree_bad(t, ERR_NOT_FOUND, "there is no such weekday from start to end");
	problem_hint(t->p, "let it end later");
	return ERR_NOT_FOUND;
}
