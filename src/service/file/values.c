/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a file as names, amounts, times and lines. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "service/file/input.h"
#include "service/limits.h"

/* Bytes that would drive a terminal, break a line or hide: also those of UTF-8 (U+0080 to U+009F).
 */
static bool is_clean(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c < 0x20 || c == 0x7f)
			return false;
		if (c == 0xc2 && i + 1 < s.n && (unsigned char)s.p[i + 1] < 0xa0)
			return false;
	}
	return s.n > 0 && s.p[0] != ' ' && s.p[s.n - 1] != ' ';
}

static int name_check(const struct node *v, const char *name, struct problem *p)
{
	if (v->text.n > SERVICE_NAME_MAX)
		return wrong_at(p, v->line, STR_NULL, "%s has %zu bytes; it may have %d", name,
		    v->text.n, SERVICE_NAME_MAX);
	if (!is_clean(v->text))
		return wrong_at(p, v->line, STR_NULL,
		    "%s must not be empty, and have no control characters and no spaces at its "
		    "ends",
		    name);
	return 0;
}

int node_name(const struct node *v, const char *name, struct str *ret_name, struct problem *p)
{
	int rc = node_text(v, name, SIZE_MAX, STR_NULL, ret_name, p);

	return rc < 0 ? rc : name_check(v, name, p);
}

int node_bytes(const struct node *v, const char *name, int64_t *ret_bytes, struct problem *p)
{
	int64_t n;

	if (v->kind != NODE_TEXT || !str_to_bytes(v->text, &n) || n < 0 || n > SERVICE_AMOUNT_MAX) {
		wrong_at(p, v->line, STR_NULL, "%s must be an amount of at most 8192T", name);
		return problem_hint(p, "write bytes, or a text such as \"512M\", \"2G\"");
	}
	*ret_bytes = n;
	return 0;
}

/* Digits, a point, digits: no sign, no exponent. */
static bool decimal_parse(struct str s, int64_t scale, int64_t max, int64_t *ret_n)
{
	struct str rest = s, whole;
	int64_t n, part = scale;

	if (!str_next(&rest, '.', &whole) || !str_to_i64(whole, 0, max, &n))
		return false;
	if (whole.n < s.n && rest.n == 0)
		return false;
	n *= scale;
	for (size_t i = 0; i < rest.n; i++) {
		if (rest.p[i] < '0' || rest.p[i] > '9' || part <= 1)
			return false;
		part /= 10;
		n += (rest.p[i] - '0') * part;
	}
	*ret_n = n;
	return n <= max * scale;
}

int node_decimal(const struct node *v, const char *name, int64_t scale, int64_t max, int64_t *ret_n,
    struct problem *p)
{
	if (node_is_number(v) && decimal_parse(v->text, scale, max, ret_n))
		return 0;
	return wrong_at(p, v->line, STR_NULL,
	    "%s must be a number from 0 to %lld, with at most %d digits behind the point", name,
	    (long long)max, scale == 1000 ? 3 : 6);
}

int node_count(const struct node *v, const char *name, int64_t min, int64_t max, uint32_t *ret_n,
    struct problem *p)
{
	int64_t n = 0;
	int rc = node_number(v, name, min, max, STR_NULL, &n, p);

	if (rc == 0)
		*ret_n = (uint32_t)n;
	return rc;
}

int node_flag(const struct node *v, const char *name, bool *ret_flag, struct problem *p)
{
	if (!node_is_bool(v))
		return wrong_at(
		    p, v->line, STR_NULL, "%s is %s; true or false is wanted", name, node_type(v));
	*ret_flag = str_is(v->text, "true");
	return 0;
}

int node_choice(const struct node *v, const char *name, const char *const *names, size_t n,
    unsigned *ret_choice, struct problem *p)
{
	struct buf all = {0};
	int rc;

	for (size_t i = 0; i < n; i++) {
		if (v->kind == NODE_TEXT && v->text.n == strlen(names[i]) &&
		    strncasecmp(v->text.p, names[i], v->text.n) == 0) {
			*ret_choice = (unsigned)i;
			buf_release(&all);
			return 0;
		}
		buf_printf(&all, "%s%s", i == 0 ? "" : i + 1 == n ? " or " : ", ", names[i]);
	}
	rc = wrong_at(p, v->line, STR_NULL, "%s must be %s", name, all.p);
	buf_release(&all);
	return rc;
}

int node_time(const struct node *v, const char *name, int64_t *ret_ms, struct problem *p)
{
	int64_t ms;

	if (v->kind == NODE_TEXT && v->text.n &&
	    (time_parse(v->text, &ms) || str_to_duration_ms(v->text, &ms)) && ms >= 0 &&
	    ms <= 100 * SERVICE_WAIT_MAX_MS) {
		*ret_ms = ms;
		return 0;
	}
	wrong_at(p, v->line, STR_NULL, "%s must be a time", name);
	return problem_hint(p, "write \"2026-11-18T14:00:00Z\", or how long after 1970 began: 90, "
	                       "\"90s\", \"2h\"");
}

int node_span(const struct node *v, const char *name, int64_t *ret_ms, struct problem *p)
{
	int64_t ms;

	if (v->kind == NODE_TEXT && v->text.n && str_to_duration_ms(v->text, &ms) && ms >= 0 &&
	    ms <= SERVICE_WAIT_MAX_MS) {
		*ret_ms = ms;
		return 0;
	}
	wrong_at(
	    p, v->line, STR_NULL, "%s must be a time of 0 or more, of ten years at most", name);
	return problem_hint(p, "write seconds, or a text such as \"90s\", \"1.5h\", \"2d\"");
}

static int by_line(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* One entry as a line: "gpu" of a list, "gpu=a100" of a map. */
static int line_of(const struct node *v, const char *name, struct arena *arena, bool is_map,
    struct str *ret_line, struct problem *p)
{
	struct node whole = *v;

	if (v->kind != NODE_TEXT)
		return wrong_at(
		    p, v->line, STR_NULL, "%s has %s in it; texts are wanted", name, node_type(v));
	if (is_map)
		whole.text =
		    arena_strf(arena, STR_FMT "=" STR_FMT, STR_ARG(v->key), STR_ARG(v->text));
	else
		whole.text = arena_str(arena, v->text);
	*ret_line = whole.text;
	return name_check(&whole, name, p);
}

static struct str lines_join(struct str *lines, size_t n, struct arena *arena)
{
	AUTO(buf_release) struct buf b = {0};

	qsort(lines, n, sizeof *lines, by_line);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || !str_eq(lines[i], lines[i - 1])) {
			buf_add_str(&b, lines[i]);
			buf_add_char(&b, '\n');
		}
	return b.n ? arena_str(arena, buf_str(&b)) : STR_NULL;
}

int node_lines(const struct node *v, const char *name, struct arena *arena, struct str *ret_lines,
    struct problem *p)
{
	struct str lines[SERVICE_LABELS_MAX];
	size_t n = 0;
	int rc = 0;

	if (v->kind == NODE_TEXT)
		return wrong_at(p, v->line, STR_NULL, "%s is %s; a list or a map is wanted", name,
		    node_type(v));
	if (v->n > SERVICE_LABELS_MAX)
		return wrong_at(p, v->line, STR_NULL, "%s has %u entries; it may have %d", name,
		    v->n, SERVICE_LABELS_MAX);
	for (const struct node *i = v->first; rc == 0 && i; i = i->next)
		rc = line_of(i, name, arena, v->kind == NODE_MAP, &lines[n++], p);
	if (rc == 0)
		*ret_lines = lines_join(lines, n, arena);
	return rc;
}

int node_instance(const struct node *v, const char *name, struct str *ret_service,
    uint32_t *ret_index, struct problem *p)
{
	struct str text;
	const char *slash;
	int64_t index;
	int rc = node_text(v, name, SIZE_MAX, STR_NULL, &text, p);

	if (rc < 0)
		return rc;
	slash = text.n ? memrchr(text.p, '/', text.n) : NULL;
	if (!slash || !str_to_i64((struct str){slash + 1, (size_t)(text.p + text.n - slash) - 1}, 0,
	                  SERVICE_INDEX_MAX, &index))
		return wrong_at(p, v->line, STR_NULL,
		    "%s must be a service and an index from 0 to %d, such as web/3", name,
		    SERVICE_INDEX_MAX);
	*ret_service = (struct str){text.p, (size_t)(slash - text.p)};
	*ret_index = (uint32_t)index;
	struct node alone = *v;
	alone.text = *ret_service;
	return name_check(&alone, name, p);
}
