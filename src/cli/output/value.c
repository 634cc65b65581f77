/* SPDX-License-Identifier: Apache-2.0 */
/* Values for people: what a cell of a table, or a line of a detailed view, says of an object. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/output/output.h"
#include "model/task/need.h"

#define FACTS_MAX 64

/* Which object holds the member "counts.queued", and under which name. */
static const json_t *holder(const json_t *object, const char *path, const char **ret_name)
{
	const char *dot;

	for (; (dot = strchr(path, '.')); path = dot + 1)
		object = json_object_getn(object, path, (size_t)(dot - path));
	*ret_name = path;
	return object;
}

static char *age(int64_t ms)
{
	char text[TIME_TEXT_MAX];

	return ms < 1000 ? xstrdup("now") : xasprintf("%s ago", human_short(ms, text));
}

static char *names(const json_t *array)
{
	AUTO(buf_release) struct buf words = {0};
	json_t *item;
	size_t i;

	json_array_foreach(array, i, item)
	    buf_printf(&words, "%s%s", i ? "," : "", json_string_value(item));
	return words.p ? buf_take(&words) : NULL;
}

static char *gathered(void (*add)(struct buf *b, const json_t *j), const json_t *j)
{
	AUTO(buf_release) struct buf words = {0};

	add(&words, j);
	return words.p ? buf_take(&words) : NULL;
}

static void add_one(struct buf *b, const char *prefix, const char *name, const json_t *v)
{
	double n = json_number_value(v);
	struct str counted =
	    *prefix ? STR("pieces") : str_of(name); /* a throttle may be called cpu */
	bool is_milli = amount_unit(counted) == AMOUNT_MILLI;

	buf_printf(b, "%s%s%s=", b->n ? " " : "", prefix, name);
	if (json_is_string(v))
		buf_add_cstr(b, json_string_value(v));
	else
		amount_add(b, counted, (int64_t)(is_milli ? n * 1000 + 0.5 : n));
}

/* As it would be given, but with units for people. */
static void add_need(struct buf *b, const json_t *need)
{
	static const struct {
		const char *member, *prefix;
	} inner[] = {{"labels", "label."}, {"not_labels", "not."}, {"resources", ""},
	    {"throttles", "throttle."}};
	const char *name;
	json_t *v;

	json_object_foreach((json_t *)need, name, v)
	{
		if (!json_is_object(v))
			add_one(b, "", name, v);
	}
	for (size_t i = 0; i < sizeof inner / sizeof inner[0]; i++)
		json_object_foreach(json_object_get(need, inner[i].member), name, v)
		{
			add_one(b, inner[i].prefix, name, v);
		}
}

static char *shown(enum shown how, const json_t *object, const char *name)
{
	const json_t *j = json_object_get(object, name);
	int64_t n = ji(object, name, 0);
	char text[TIME_TEXT_MAX];

	switch (how) {
	case SHOWN_NUMBER: return xasprintf("%lld", (long long)n);
	case SHOWN_COUNT: return xstrdup(human_count(n, text));
	case SHOWN_SPAN: return xstrdup(time_human_ms(n, text));
	case SHOWN_SPAN_IF: return n ? xstrdup(time_human_ms(n, text)) : NULL;
	case SHOWN_SPAN_AGO: return xasprintf("%s ago", time_human_ms(n, text));
	case SHOWN_COARSE: return xstrdup(human_short(n, text));
	case SHOWN_AGE: return age(n);
	case SHOWN_AGO: return xstrdup(jago(object, name, text));
	case SHOWN_TIME: return xasprintf("%s (%s)", js(object, name), jago(object, name, text));
	case SHOWN_NAMES: return names(j);
	case SHOWN_PAIRS: return gathered(add_pairs, j);
	case SHOWN_NEED: return gathered(add_need, j);
	case SHOWN_COMMAND: return gathered(add_command, j);
	case SHOWN_JSON: return json_dumps(j, json_reals(j));
	case SHOWN_OBJECT: return json_object_size(j) ? json_dumps(j, json_reals(j)) : NULL;
	case SHOWN_TEXT: break;
	}
	return *js(object, name) ? xstrdup(js(object, name)) : NULL;
}

char *value_text(const struct cli *c, const struct value *v, const json_t *object)
{
	const char *name;
	char *text;

	if (v->words)
		return v->words(c, object);
	object = holder(object, v->member, &name);
	text = jhas(object, name) ? shown(v->how, object, name) : NULL;
	return text || !v->otherwise ? text : xstrdup(v->otherwise);
}

void facts_show(struct cli *c, const struct fact *facts, size_t n, const json_t *object)
{
	char *texts[FACTS_MAX];
	size_t widest = 0;

	MUST(n <= FACTS_MAX);
	for (size_t i = 0; i < n; i++) {
		texts[i] = value_text(c, &facts[i].value, object);
		if (texts[i] && strlen(facts[i].name) > widest)
			widest = strlen(facts[i].name);
	}
	for (size_t i = 0; i < n; i++) {
		AUTO(buf_release) struct buf clean = {0};
		AUTO(free_cstr) char *text = texts[i];

		if (!text)
			continue;
		text_add_clean(&clean, str_of(text));
		printf("%s%-*s%s  %s\n", term_on(c->term.out_colour, COLOUR_DIM), (int)widest,
		    facts[i].name, term_off(c->term.out_colour), clean.p ? clean.p : "");
	}
}
