/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of requests by tables of settings, and parameters by tables of options. */
#include "cli/nouns/body.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/tasks/work.h"
#include "cron/pattern/item.h"

static enum setting_kind kind_of(const struct field *f)
{
	switch (f->kind) {
	case FIELD_STRINGS: return SETTING_PAIRS;
	case FIELD_RUN: return SETTING_RUN;
	case FIELD_BOOL: return SETTING_SWITCH;
	case FIELD_I32:
	case FIELD_I64: return SETTING_NUMBER;
	case FIELD_TIME: return SETTING_MOMENT;
	default: return SETTING_TEXT;
	}
}

/* An object that must have a member cannot take it back: "none" is then a word like others. */
static struct setting setting_of(const struct field *f, const char *option)
{
	enum setting_kind kind = kind_of(f);

	return (struct setting){
	    .option = option,
	    .kind = kind,
	    .none = kind <= SETTING_NUMBER && !(f->flags & FIELD_NEEDED),
	    .member = f->name,
	    .is_size = !strcmp(f->name, "output_max"),
	    .min = f->min,
	    .max = f->max,
	    .hint = f->flags & FIELD_NULL_GIVEN ? "\"none\" means no limit" : NULL,
	};
}

const struct setting *settings_make(const struct field *fields, struct made_settings *made)
{
	size_t n = 0;

	for (const struct field *f = fields; f->name; f++) {
		if (!(f->flags & FIELD_GIVEN) || f->kind == FIELD_OTHER)
			continue;
		MUST(n < SETTINGS_MOST - 1);
		snprintf(made->options[n], sizeof made->options[n], "%s",
		    f->option ? f->option : f->name);
		for (char *at = made->options[n]; (at = strchr(at, '_'));)
			*at = '-';
		made->rows[n] = setting_of(f, made->options[n]);
		n++;
	}
	made->rows[n] = (struct setting){0};
	return made->rows;
}

static bool is_given(const struct cli *c, const struct setting *s)
{
	bool negated;

	if (s->kind == SETTING_RUN)
		return run_given(c);
	return options_find(&c->options, str_of(s->option), &negated) &&
	       options_given(&c->options, s->option);
}

bool body_needs_old(const struct cli *c, const struct setting *settings)
{
	for (const struct setting *s = settings; s->option; s++)
		if ((s->kind == SETTING_PAIRS || s->kind == SETTING_RUN) && is_given(c, s))
			return true;
	return false;
}

void moment_text(const char *given, struct buf *out)
{
	char text[TIME_TEXT_MAX];
	int64_t seconds;

	if (str_to_i64(str_of(given), 0, CRON_TIME_MAX, &seconds))
		buf_add_cstr(out, time_format_ms(seconds * 1000, text));
	else
		buf_add_cstr(out, given);
}

static int not_text(struct cli *c, const char *member)
{
	return problem_set(&c->problem, ERR_INVALID, "%s is not valid UTF-8", member);
}

int body_add_text(struct cli *c, json_t *body, const char *member, const char *value)
{
	return json_object_set_new(body, member, json_string(value)) == 0 ? 0 : not_text(c, member);
}

static int add_number(struct cli *c, const struct setting *s, json_t *body, const char *member)
{
	const char *given = options_get(&c->options, s->option);
	int64_t n = 0;

	if (s->is_size && str_to_bytes(str_of(given), &n) && n >= s->min && n <= s->max)
		return json_object_set_new(body, member, json_integer(n));
	if (options_i64(&c->options, s->option, s->min, s->max, &n, &c->problem) < 0)
		return s->hint ? problem_hint(&c->problem, "%s", s->hint) : c->problem.code;
	return json_object_set_new(body, member, json_integer(n));
}

static int add_names(struct cli *c, const char *option, json_t *body, const char *member)
{
	json_t *names = json_array();
	const char *name;
	size_t at = 0;

	json_object_set_new(body, member, names);
	while ((name = options_next(&c->options, option, &at)))
		if (json_array_append_new(names, json_string(name)) < 0)
			return not_text(c, member);
	return 0;
}

static int add_pairs_over(
    struct cli *c, const char *option, const json_t *old, json_t *body, const char *member)
{
	json_t *pairs = old ? json_deep_copy(old) : json_object();
	const char *pair;
	size_t at = 0;

	json_object_set_new(body, member, pairs);
	while ((pair = options_next(&c->options, option, &at))) {
		const char *equals = strchr(pair, '=');
		AUTO(free_cstr) char *key = NULL;

		if (!equals || equals == pair)
			return problem_set(&c->problem, ERR_INVALID,
			    "--%s wants KEY=VALUE, not \"%.64s\"", option, pair);
		key = xstrndup(pair, (size_t)(equals - pair));
		if (!equals[1])
			json_object_del(pairs, key);
		else if (body_add_text(c, pairs, key, equals + 1) < 0)
			return c->problem.code;
	}
	return 0;
}

static int add_moment(struct cli *c, json_t *body, const char *member, const char *given)
{
	AUTO(buf_release) struct buf text = {0};

	moment_text(given, &text);
	return body_add_text(c, body, member, text.p ? text.p : "");
}

static int add_one(struct cli *c, const struct setting *s, const json_t *old, json_t *body)
{
	const char *given = options_get(&c->options, s->option);
	AUTO(free_cstr) char *member = xstrdup(s->member ? s->member : s->option);
	bool whole = old == body;

	for (char *at = member; (at = strchr(at, '-'));)
		*at = '_';
	old = json_object_get(old, member);
	if (s->kind == SETTING_RUN)
		return run_from_options(c, old, body);
	if (whole && !strcmp(given, "none")) {
		json_object_del(body, member);
		return 0;
	}
	if (s->none && !strcmp(given, "none"))
		return json_object_set_new(body, member, json_null());
	if (s->instead && !strcmp(given, s->instead))
		return body_add_text(c, body, member, given);
	switch (s->kind) {
	case SETTING_MOMENT: return add_moment(c, body, member, given);
	case SETTING_NUMBER: return add_number(c, s, body, member);
	case SETTING_NAMES: return add_names(c, s->option, body, member);
	case SETTING_PAIRS: return add_pairs_over(c, s->option, old, body, member);
	case SETTING_SWITCH:
		return json_object_set_new(
		    body, member, json_boolean(options_switch(&c->options, s->option, false)));
	default: return body_add_text(c, body, member, given);
	}
}

int body_add(struct cli *c, const struct setting *settings, const json_t *old, json_t *body)
{
	for (const struct setting *s = settings; s->option; s++)
		if (is_given(c, s) && add_one(c, s, old, body) < 0)
			return c->problem.code;
	return 0;
}

void query_add(const struct cli *c, const struct option_def *table, struct buf *url)
{
	const char *value;
	size_t at;

	for (const struct option_def *d = table; d->name; d++) {
		at = 0;
		if (d->arg && d->flags & OPTION_REPEAT)
			while ((value = options_next(&c->options, d->name, &at)))
				url_add(url, d->name, value);
		else if (d->arg && (value = options_get(&c->options, d->name)))
			url_add(url, d->name, value);
		else if (!d->arg && strcmp(d->name, "yes") &&
		         options_switch(&c->options, d->name, false))
			url_add(url, d->name, "true");
	}
}
