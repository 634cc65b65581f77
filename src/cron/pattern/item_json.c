/* SPDX-License-Identifier: Apache-2.0 */
/* Items as JSON: one object, or a list of them. A row a key. */
#include <stdio.h>

#include "base/mem.h"
#include "cron/pattern/names.h"
#include "cron/pattern/tree.h"
#include "cron/zone/dst.h"

static int bits_of(struct tree *t, const json_t *v, const struct selector *s, uint64_t *ret_bits)
{
	AUTO(ranges_release) struct ranges r = {0};
	int rc = tree_selector(t, v, s, &r);

	if (rc == ERR_OK)
		*ret_bits = ranges_bits(&r, 0);
	return rc;
}

static const struct selector of_sixty = {.min = 0, .max = 59, .turns = true};

static int read_second(struct tree *t, const json_t *v, struct cron_item *it)
{
	return bits_of(t, v, &of_sixty, &it->seconds);
}

static int read_minute(struct tree *t, const json_t *v, struct cron_item *it)
{
	return bits_of(t, v, &of_sixty, &it->minutes);
}

static int read_hour(struct tree *t, const json_t *v, struct cron_item *it)
{
	static const struct selector hours = {.min = 0, .max = 23, .turns = true};
	uint64_t bits = 0;
	int rc = bits_of(t, v, &hours, &bits);

	it->hours = (uint32_t)bits;
	return rc;
}

static int read_day_of_month(struct tree *t, const json_t *v, struct cron_item *it)
{
	uint32_t last = 0;
	struct selector days = {.min = 1, .max = 31, .turns = true, .last = &last};
	uint64_t bits = 0;
	int rc = bits_of(t, v, &days, &bits);

	it->days = (uint32_t)bits | (last & 1 ? CRON_LAST_DAY : 0);
	it->days_before_end = last & ~1u;
	return rc;
}

static int read_day_of_week(struct tree *t, const json_t *v, struct cron_item *it)
{
	uint64_t bits = 0;
	int rc = bits_of(t, v, &weekday_selector, &bits);

	it->weekdays = (uint8_t)(bits >> 1);
	return rc;
}

static int read_month(struct tree *t, const json_t *v, struct cron_item *it)
{
	static const struct selector months = {.min = 1,
	    .max = 12,
	    .names = month_names,
	    .n_names = 12,
	    .first_name = 1,
	    .turns = true};
	uint64_t bits = 0;
	int rc = bits_of(t, v, &months, &bits);

	it->months = (uint16_t)bits;
	return rc;
}

static int read_ranges(
    struct tree *t, const json_t *v, const struct selector *s, struct cron_item *it)
{
	AUTO(ranges_release) struct ranges r = {0};
	int rc = tree_selector(t, v, s, &r);

	if (!rc)
		ranges_take(&r, it);
	return rc;
}

static int read_year(struct tree *t, const json_t *v, struct cron_item *it)
{
	static const struct selector years = {.min = CRON_YEAR_MIN, .max = CRON_YEAR_MAX};

	return read_ranges(t, v, &years, it);
}

static int read_epoch(struct tree *t, const json_t *v, struct cron_item *it)
{
	static const struct selector times = {.min = 0, .max = CRON_TIME_MAX};

	it->is_epoch = true;
	return read_ranges(t, v, &times, it);
}

static int read_shift_limit(struct tree *t, const json_t *v, struct cron_item *it)
{
	static const struct selector seconds = {.min = 0, .max = CRON_TIME_MAX};

	it->has_shift_limit = true;
	return tree_value(t, v, &seconds, &it->shift_limit);
}

static int read_both_days(struct tree *t, const json_t *v, struct cron_item *it)
{
	if (json_is_true(v))
		return ERR_OK;
	tree_bad(t, ERR_INVALID, "only true may be said here");
	problem_hint(t->p, "true: the days of the month and of the week must both match");
	return ERR_INVALID;
}

/* Read last, since Vixie's rule looks at the hours and minutes. */
static int read_dst_fixes(struct tree *t, const json_t *v, struct cron_item *it)
{
	const json_t *a = json_array_get(v, 0), *b = json_array_get(v, 1);
	struct cron_dst dst;
	struct problem why = {0};

	if (json_is_string(v) && str_is(tree_str(v), "vixie")) {
		dst.mode = CRON_DST_VIXIE;
	} else if (json_array_size(v) != 2 || !json_is_string(a) || !json_is_string(b)) {
		tree_bad(t, ERR_INVALID, "a list of two answers is wanted, or \"vixie\"");
		problem_hint(t->p, "for example [\"unskip\", \"repeat_use_only_early\"]");
		return ERR_INVALID;
	} else if (dst_pair(tree_str(a), tree_str(b), &dst, &why)) {
		tree_bad(t, ERR_INVALID, "%s", why.what);
		problem_hint(t->p, "%s", why.hint);
		return ERR_INVALID;
	}
	cron_item_set_dst(it, &dst);
	return ERR_OK;
}

enum key_id {
	KEY_MINUTE,
	KEY_HOUR,
	KEY_DAY_OF_WEEK,
	KEY_DAY_OF_MONTH,
	KEY_WEEKDAY_OF_MONTH,
	KEY_MONTH,
	KEY_YEAR,
	KEY_SECOND,
	KEY_ITER_DAY,
	KEY_ITER_DAY_OF_WEEK,
	KEY_ITER_MONTH,
	KEY_BOTH_DAYS,
	KEY_EPOCH,
	KEY_SHIFT_LIMIT,
	KEY_DST_FIXES,
	N_KEYS
};

static const char *const key_names[N_KEYS] = {
    [KEY_MINUTE] = "minute",
    [KEY_HOUR] = "hour",
    [KEY_DAY_OF_WEEK] = "day_of_week",
    [KEY_DAY_OF_MONTH] = "day_of_month",
    [KEY_WEEKDAY_OF_MONTH] = "weekday_of_month",
    [KEY_MONTH] = "month",
    [KEY_YEAR] = "year",
    [KEY_SECOND] = "second",
    [KEY_ITER_DAY] = "iter_day",
    [KEY_ITER_DAY_OF_WEEK] = "iter_day_of_week",
    [KEY_ITER_MONTH] = "iter_month",
    [KEY_BOTH_DAYS] = "both_days",
    [KEY_EPOCH] = "epoch",
    [KEY_SHIFT_LIMIT] = "max_shift_seconds_for_unskip_and_do_not_repeat",
    [KEY_DST_FIXES] = "dst_fixes",
};

static int (*const key_readers[N_KEYS])(struct tree *, const json_t *, struct cron_item *) = {
    [KEY_MINUTE] = read_minute,
    [KEY_HOUR] = read_hour,
    [KEY_DAY_OF_WEEK] = read_day_of_week,
    [KEY_DAY_OF_MONTH] = read_day_of_month,
    [KEY_WEEKDAY_OF_MONTH] = tree_weekday_of_month,
    [KEY_MONTH] = read_month,
    [KEY_YEAR] = read_year,
    [KEY_SECOND] = read_second,
    [KEY_ITER_DAY] = tree_iter_day,
    [KEY_ITER_DAY_OF_WEEK] = tree_iter_week,
    [KEY_ITER_MONTH] = tree_iter_month,
    [KEY_BOTH_DAYS] = read_both_days,
    [KEY_EPOCH] = read_epoch,
    [KEY_SHIFT_LIMIT] = read_shift_limit,
    [KEY_DST_FIXES] = read_dst_fixes,
};

static bool has(const json_t *v, enum key_id id)
{
	return json_object_get(v, key_names[id]) != NULL;
}

static int bad_key(struct tree *t, enum key_id id, const char *what, const char *hint)
{
	size_t mark = tree_key(t, key_names[id]);

	tree_bad(t, ERR_INVALID, "%s", what);
	problem_hint(t->p, "%s", hint);
	tree_up(t, mark);
	return ERR_INVALID;
}

static int check_epoch(struct tree *t, const json_t *v)
{
	for (enum key_id id = 0; id < N_KEYS; id++)
		if (has(v, id) && id != KEY_EPOCH && id != KEY_SHIFT_LIMIT)
			return bad_key(t, id, "this cannot stand beside \"epoch\"",
			    "epoch counts seconds since 1970 and no wall clock; make two items of "
			    "it, or leave one of the keys out");
	return ERR_OK;
}

/* Two selectors of days, each of which restricts the other, are mostly a mistake. */
static int check_days(struct tree *t, const json_t *v)
{
	int n = has(v, KEY_DAY_OF_WEEK) + has(v, KEY_DAY_OF_MONTH) + has(v, KEY_WEEKDAY_OF_MONTH);

	if (n < 2 || has(v, KEY_BOTH_DAYS))
		return ERR_OK;
	return bad_key(t, has(v, KEY_DAY_OF_MONTH) ? KEY_DAY_OF_MONTH : KEY_DAY_OF_WEEK,
	    "day_of_week, day_of_month and weekday_of_month exclude each other",
	    "for either of them to match, write two items; for both together, add "
	    "\"both_days\": true");
}

static int check_keys(struct tree *t, const json_t *v)
{
	int rc = tree_check_keys(t, v, key_names, N_KEYS);

	if (rc)
		return rc;
	if (has(v, KEY_EPOCH))
		return check_epoch(t, v);
	if (!has(v, KEY_MINUTE))
		return bad_key(t, KEY_MINUTE, "is missing",
		    "\"minute\": 0 is once an hour, {\"period\": 1} every minute; or count seconds "
		    "with \"epoch\"");
	if (!has(v, KEY_DST_FIXES))
		return bad_key(t, KEY_DST_FIXES, "is missing",
		    "say what happens to times that do not exist or come twice: [\"skip\" or "
		    "\"unskip\", \"repeat_use_both\", \"repeat_use_only_early\" or "
		    "\"repeat_use_only_late\"]; or \"vixie\"");
	return check_days(t, v);
}

static int read_item(struct tree *t, const json_t *v, struct cron_item *it)
{
	const json_t *member;
	size_t mark;
	int rc;

	if (!json_is_object(v)) {
		tree_bad(t, ERR_INVALID, "an item is an object, not %s", tree_kind(v));
		problem_hint(t->p, "for example {\"epoch\": {\"period\": 300}}");
		return ERR_INVALID;
	}
	if ((rc = check_keys(t, v)))
		return rc;
	for (enum key_id id = 0; id < N_KEYS; id++) {
		if (!(member = json_object_get(v, key_names[id])))
			continue;
		mark = tree_key(t, key_names[id]);
		if ((rc = key_readers[id](t, member, it)))
			return rc;
		tree_up(t, mark);
	}
	return item_check_dates(it, t->path, t->p);
}

static int read_items(struct tree *t, const json_t *root, struct cron_items *items)
{
	size_t n = json_is_array(root) ? json_array_size(root) : 1, mark;
	struct cron_item it;
	int rc;

	if (n < 1 || n > CRON_ITEMS_MAX) {
		tree_bad(t, ERR_INVALID, "there are %zu items", n);
		problem_hint(t->p, "write 1 to %d of them", CRON_ITEMS_MAX);
		return ERR_INVALID;
	}
	for (size_t i = 0; i < n; i++) {
		mark = json_is_array(root) ? tree_index(t, i) : 0;
		item_init(&it);
		rc = read_item(t, json_is_array(root) ? json_array_get(root, i) : root, &it);
		if (rc) {
			item_release(&it);
			return rc;
		}
		items_add(items, &it);
		tree_up(t, mark);
	}
	return ERR_OK;
}

static int bad_syntax(const json_error_t *e, struct problem *p)
{
	char place[64];

	snprintf(place, sizeof place, "line %d, column %d", e->line, e->column);
	problem_set(p, ERR_INVALID, "%s: this is no JSON: %s", place, e->text);
	problem_hint(p, "an item looks like {\"minute\": 0, \"hour\": 5, \"dst_fixes\": "
	                "[\"unskip\", \"repeat_use_only_early\"]}");
	problem_field(p, place);
	return ERR_INVALID;
}

int cron_items_json(struct str text, struct cron_items *ret_items, struct problem *p)
{
	struct tree t = {.p = p};
	struct cron_items items = {0};
	json_error_t e;
	json_t *root;
	int rc;

	if (text.n > CRON_TEXT_MAX)
		return problem_set(p, ERR_INVALID,
		    "the items have %zu bytes; at most %d are allowed", text.n, CRON_TEXT_MAX);
	root = json_loadb(text.p ? text.p : "", text.n, JSON_REJECT_DUPLICATES, &e);
	if (!root)
		return bad_syntax(&e, p);
	rc = read_items(&t, root, &items);
	json_decref(root);
	if (rc)
		cron_items_release(&items);
	else
		*ret_items = items;
	return rc;
}
