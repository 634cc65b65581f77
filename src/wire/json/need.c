/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/json/need.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "model/limits.h"
#include "model/lines.h"

#define TEXT_MOST 8192

struct needing {
	const char *field;
	struct buf lines;
	size_t n_resources, n_labels, n_not, n_throttles;
	struct str target;
	struct problem *problem;
};

static int refuse(struct needing *t, const char *what, struct str about, const char *hint)
{
	problem_set(t->problem, ERR_INVALID, "\"%s\": \"%.*s\" %s", t->field,
	    about.n > 64 ? 64 : (int)about.n, about.p ? about.p : "", what);
	problem_hint(t->problem, "%s", hint);
	return problem_field(t->problem, t->field);
}

static bool parse_milli(struct str text, int64_t *ret)
{
	struct str rest = text, whole, part = STR_NULL;
	int64_t n, thousandths = 0;

	if (!str_next(&rest, '.', &whole) || !str_to_i64(whole, 0, AMOUNT_MAX / 1000 - 1, &n))
		return false;
	part = rest;
	if (part.n > 3 || (part.p && !part.n && whole.n != text.n))
		return false;
	if (part.n && !str_to_i64(part, 0, 999, &thousandths))
		return false;
	for (size_t i = part.n; part.n && i < 3; i++)
		thousandths *= 10;
	*ret = n * 1000 + thousandths;
	return true;
}

static const char *const unit_hints[] = {
    [AMOUNT_PIECES] = "write a whole number, as gpu=1",
    [AMOUNT_MILLI] = "write cores with at most three decimals, as cpu=2 or cpu=0.5",
    [AMOUNT_BYTES] = "write bytes, or a number with a unit: K, M, G or T, as memory=8G",
};

static bool parse_amount(enum amount_unit unit, struct str text, int64_t *ret)
{
	switch (unit) {
	case AMOUNT_MILLI: return parse_milli(text, ret);
	case AMOUNT_BYTES: return str_to_bytes(text, ret) && *ret <= AMOUNT_MAX;
	default: return str_to_i64(text, 0, AMOUNT_MAX, ret);
	}
}

int amount_in(struct str name, struct str text, const char *field, bool zero_ok, int64_t *ret_n,
    struct problem *p)
{
	struct needing t = {.field = field, .problem = p};
	enum amount_unit unit = amount_unit(name);

	if (!amount_name_ok(name))
		return refuse(&t, "is not the name of a resource", name,
		    "it has letters, digits and _ - . / and at most 64 of them");
	if (!parse_amount(unit, text, ret_n)) {
		refuse(&t, "is not an amount", text, unit_hints[unit]);
		return ERR_INVALID;
	}
	if (*ret_n == 0 && !zero_ok)
		return refuse(&t, "needs nothing", name, "leave it out instead");
	return 0;
}

static int add_amount(struct needing *t, struct str name, struct str text)
{
	int64_t n;

	if (amount_in(name, text, t->field, false, &n, t->problem))
		return ERR_INVALID;
	if (amount_unit(name) == AMOUNT_PIECES && ++t->n_resources > RESOURCES_MAX)
		return refuse(t, "is one resource too many", name, "a need has at most 16");
	if (amount_of(buf_str(&t->lines), name) >= 0)
		return refuse(t, "is given twice", name, "give it once");
	amount_line(&t->lines, name, n);
	return 0;
}

static int add_label(struct needing *t, char sign, struct str key, struct str value)
{
	size_t *n = sign == '+' ? &t->n_labels : &t->n_not;

	if (!key.n || key.n + value.n + 1 > LABEL_MAX_BYTES || memchr(key.p, '=', key.n) ||
	    memchr(key.p, '\n', key.n) || (value.n && memchr(value.p, '\n', value.n)))
		return refuse(t, "is not a label that a worker can have", key,
		    "labels are key=value, of at most 256 bytes together");
	if (++*n > NEED_LABELS_MAX)
		return refuse(t, "is one label too many", key, "a need has at most 16");
	buf_printf(&t->lines, "%c" STR_FMT "=" STR_FMT "\n", sign, STR_ARG(key), STR_ARG(value));
	return 0;
}

static int add_target(struct needing *t, struct str target)
{
	if (!target.n || target.n > NAME_MAX_BYTES || memchr(target.p, '\n', target.n))
		return refuse(t, "is not a target", target, "write a platform, as x86_64-linux");
	if (t->target.p)
		return refuse(t, "is a second target", target, "a worker has one");
	t->target = target;
	buf_printf(&t->lines, "@" STR_FMT "\n", STR_ARG(target));
	return 0;
}

static int add_throttle(struct needing *t, struct str key, struct str text)
{
	int64_t limit;

	if (!amount_name_ok(key))
		return refuse(t, "is not the key of a throttle", key,
		    "it has letters, digits and _ - . / and at most 64 of them");
	if (!str_to_i64(text, 1, AMOUNT_MAX, &limit))
		return refuse(t, "is not how many may run at once", text,
		    "write a whole number of at least 1, as throttle.db=4");
	if (++t->n_throttles > THROTTLES_MAX)
		return refuse(t, "is one throttle too many", key, "a need has at most 16");
	if (throttle_of(buf_str(&t->lines), key) >= 0)
		return refuse(t, "is given twice", key, "give it once");
	throttle_line(&t->lines, key, limit);
	return 0;
}

static int add_pair(struct needing *t, struct str pair)
{
	struct str value = pair, key;

	if (!str_next(&value, '=', &key) || key.n == pair.n)
		return refuse(t, "is not name=value", pair, "as memory=8G,cpu=2,label.zone=a");
	if (str_starts(key, "label."))
		return add_label(t, '+', (struct str){key.p + 6, key.n - 6}, value);
	if (str_starts(key, "not."))
		return add_label(t, '-', (struct str){key.p + 4, key.n - 4}, value);
	if (str_starts(key, "throttle."))
		return add_throttle(t, (struct str){key.p + 9, key.n - 9}, value);
	if (str_is(key, "target"))
		return add_target(t, value);
	return add_amount(t, key, value);
}

static int add_text(struct needing *t, struct str text)
{
	struct str one;
	int rc = 0;

	while (!rc && text.n && str_next(&text, ',', &one))
		rc = add_pair(t, one);
	return rc;
}

static int add_number(struct needing *t, struct str name, json_t *v)
{
	char text[64];

	if (json_is_string(v))
		return add_amount(t, name, str_of(json_string_value(v)));
	if (json_is_integer(v))
		snprintf(text, sizeof text, "%lld", (long long)json_integer_value(v));
	else if (json_is_real(v) && fabs(json_real_value(v)) < 1e9)
		snprintf(text, sizeof text, "%.3f", json_real_value(v));
	else
		return json_in_wrong(v, t->field, "a number, or one with a unit,", t->problem);
	return add_amount(t, name, str_of(text));
}

static int set_amount(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct needing *t = arg;
	const char *dot = strrchr(field, '.');

	const char *whole = t->field;
	int rc;

	t->field = field;
	rc = add_number(t, str_of(dot ? dot + 1 : field), v);
	t->field = whole;
	return rc;
}

static int set_target(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct str target;

	if (json_in_str(v, field, NAME_MAX_BYTES, &target, p))
		return ERR_INVALID;
	return add_target(arg, target);
}

static int set_signed(json_t *v, const char *field, void *arg, char sign, struct problem *p)
{
	const char *key;
	json_t *value;

	if (json_in_object(v, field, p))
		return ERR_INVALID;
	json_object_foreach(v, key, value)
	{
		struct str text;

		if (json_in_str(value, field, LABEL_MAX_BYTES, &text, p) ||
		    add_label(arg, sign, str_of(key), text))
			return ERR_INVALID;
	}
	return 0;
}

static int set_labels(json_t *v, const char *field, void *arg, struct problem *p)
{
	return set_signed(v, field, arg, '+', p);
}

static int set_not_labels(json_t *v, const char *field, void *arg, struct problem *p)
{
	return set_signed(v, field, arg, '-', p);
}

static int set_resources(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct needing *t = arg;
	const char *key;
	json_t *value;

	if (json_in_object(v, field, p))
		return ERR_INVALID;
	json_object_foreach(v, key, value)
	{
		if (amount_unit(str_of(key)) != AMOUNT_PIECES)
			return refuse(t, "is no resource of its own", str_of(key),
			    "give cpu, memory and disk beside \"resources\"");
		if (add_number(t, str_of(key), value))
			return ERR_INVALID;
	}
	return 0;
}

static int set_throttles(json_t *v, const char *field, void *arg, struct problem *p)
{
	const char *key;
	json_t *value;

	if (json_in_object(v, field, p))
		return ERR_INVALID;
	json_object_foreach(v, key, value)
	{
		char text[24];

		if (!json_is_integer(value))
			return json_in_wrong(value, field, "whole numbers", p);
		snprintf(text, sizeof text, "%lld", (long long)json_integer_value(value));
		if (add_throttle(arg, str_of(key), str_of(text)))
			return ERR_INVALID;
	}
	return 0;
}

static const struct json_member members[] = {{AMOUNT_CPU, set_amount}, {AMOUNT_MEMORY, set_amount},
    {AMOUNT_DISK, set_amount}, {"target", set_target}, {"labels", set_labels},
    {"not_labels", set_not_labels}, {"resources", set_resources}, {"throttles", set_throttles}};

int need_in(json_t *v, const char *field, struct arena *a, struct str *ret_need, struct problem *p)
{
	struct needing t = {.field = field, .problem = p};
	struct str text;
	int rc = 0;

	*ret_need = STR_NULL;
	if (json_is_null(v))
		return 0;
	if (json_is_string(v)) {
		rc = json_in_str(v, field, TEXT_MOST, &text, p);
		rc = rc ? rc : add_text(&t, text);
	} else if (json_is_object(v)) {
		rc = json_in_members(v, field, members, sizeof members / sizeof members[0], &t, p);
	} else {
		rc = json_in_wrong(v, field, "an object, or a text as \"memory=8G,cpu=2\",", p);
	}
	if (!rc && t.lines.n)
		*ret_need = lines_sorted(a, buf_str(&t.lines));
	buf_release(&t.lines);
	return rc;
}
