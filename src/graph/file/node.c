/* SPDX-License-Identifier: Apache-2.0 */
/* What a value of a file is, and where it stands. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "graph/file/node.h"
#include "graph/package/names.h"

#define NAME_SHOWN 64 /* bytes of what somebody has misspelt */

#define WHO_SHOWN 80

/* JSON's numbers, and nothing else that YAML might take for one. */
static bool is_number(struct str s)
{
	const char *p = s.p, *end = s.p + s.n;
	size_t n;

	p += p < end && *p == '-';
	n = strspn(p, "0123456789");
	if (n == 0 || (n > 1 && *p == '0'))
		return false;
	p += n;
	if (p < end && *p == '.') {
		if ((n = strspn(++p, "0123456789")) == 0)
			return false;
		p += n;
	}
	if (p < end && (*p == 'e' || *p == 'E')) {
		p += 1 + (p[1] == '+' || p[1] == '-');
		if ((n = strspn(p, "0123456789")) == 0)
			return false;
		p += n;
	}
	return p == end;
}

bool node_is_null(const struct node *v)
{
	return v->kind == NODE_TEXT && v->is_plain &&
	       (v->text.n == 0 || str_is(v->text, "~") || str_is(v->text, "null"));
}

bool node_is_bool(const struct node *v)
{
	return v->kind == NODE_TEXT && v->is_plain &&
	       (str_is(v->text, "true") || str_is(v->text, "false"));
}

bool node_is_number(const struct node *v)
{
	return v->kind == NODE_TEXT && v->is_plain && is_number(v->text);
}

/* and not a number, true, false or null */
static bool node_is_string(const struct node *v)
{
	return v->kind == NODE_TEXT && !node_is_null(v) && !node_is_bool(v) && !node_is_number(v);
}

const char *node_type(const struct node *v)
{
	if (v->kind != NODE_TEXT)
		return v->kind == NODE_LIST ? "a list" : "a map";
	if (node_is_null(v))
		return "nothing";
	return node_is_bool(v) ? "true or false" : node_is_number(v) ? "a number" : "a text";
}

/* Both parts are cut, so that the place is never lost. */
int problem_at(struct problem *p, uint32_t line, struct str who)
{
	struct str head = name_head(who, WHO_SHOWN);
	struct problem was;

	if (!p)
		return ERR_INVALID;
	was = *p;
	snprintf(p->what, sizeof p->what, "line %u: " STR_FMT "%s%.220s", line, STR_ARG(head),
	    head.n ? ": " : "", was.what);
	return p->code;
}

int wrong_at(struct problem *p, uint32_t line, struct str who, const char *fmt, ...)
{
	char text[sizeof p->what];
	va_list args;
	int rc;

	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	rc = problem_set(p, ERR_INVALID, "%s", text);
	problem_at(p, line, who);
	return rc;
}

int members_read(const struct node *map, const struct member *table, size_t n, void *arg,
    struct str who, struct problem *p)
{
	const char *names[32];
	uint32_t seen = 0;
	size_t i;

	for (i = 0; i < n; i++)
		names[i] = table[i].name;
	for (const struct node *v = map->first; v; v = v->next) {
		int rc;

		for (i = 0; i < n && !str_is(v->key, names[i]); i++)
			;
		if (i == n)
			return member_unknown(v->line, v->key, names, n, who, p);
		if (seen >> i & 1)
			return wrong_at(p, v->line, who, "%s is there twice", names[i]);
		seen |= (uint32_t)1 << i;
		if ((rc = table[i].read(v, arg, p)) < 0)
			return rc;
	}
	return 0;
}

int member_unknown(uint32_t line, struct str name, const char *const *names, size_t n,
    struct str who, struct problem *p)
{
	const char *nearest = str_nearest(name, names, n);
	struct buf all = {0};
	int rc = wrong_at(p, line, who, "there is no member of this name here: %.*s",
	    name.n > NAME_SHOWN ? NAME_SHOWN : (int)name.n, name.p);

	for (size_t i = 0; i < n; i++)
		buf_printf(&all, "%s%s", i ? ", " : "", names[i]);
	if (nearest)
		problem_hint(p, "did you mean %s?", nearest);
	else
		problem_hint(p, "there are %s", all.p);
	buf_release(&all);
	return rc;
}

int node_text(const struct node *v, const char *name, size_t max, struct str who,
    struct str *ret_text, struct problem *p)
{
	if (!node_is_string(v)) {
		wrong_at(p, v->line, who, "%s is %s; a text is wanted", name, node_type(v));
		return v->kind == NODE_TEXT ? problem_hint(p, "put it in quotes") : ERR_INVALID;
	}
	if (v->text.n > max)
		return wrong_at(
		    p, v->line, who, "%s has %zu bytes; it may have %zu", name, v->text.n, max);
	*ret_text = v->text;
	return 0;
}

int node_number(const struct node *v, const char *name, int64_t min, int64_t max, struct str who,
    int64_t *ret_n, struct problem *p)
{
	if (node_is_number(v) && str_to_i64(v->text, min, max, ret_n))
		return 0;
	return wrong_at(p, v->line, who, "%s must be a whole number from %lld to %lld", name,
	    (long long)min, (long long)max);
}

int node_duration(const struct node *v, const char *name, int64_t max_ms, struct str who,
    int64_t *ret_ms, struct problem *p)
{
	int64_t ms;

	if (v->kind != NODE_TEXT || !str_to_duration_ms(v->text, &ms) || ms < 1 || ms > max_ms) {
		wrong_at(p, v->line, who, "%s must be a time above 0, of ten years at most", name);
		return problem_hint(
		    p, "write seconds, or a text such as \"90s\", \"1.5h\", \"2d\"");
	}
	*ret_ms = ms;
	return 0;
}

int node_list(const struct node *v, const char *name, size_t max, struct str who, struct problem *p)
{
	if (v->kind != NODE_LIST)
		return wrong_at(p, v->line, who, "%s is %s; a list is wanted", name, node_type(v));
	if (v->n > max)
		return wrong_at(
		    p, v->line, who, "%s has %u values; it may have %zu", name, v->n, max);
	return 0;
}
