/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a worker is one that some work wants: target, labels and placement tags. */
#include "base/mem.h"
#include "service/place/internal.h"

bool lines_have(struct str lines, struct str line)
{
	struct str one;

	while (lines.n && str_next(&lines, '\n', &one))
		if (str_eq(one, line))
			return true;
	return false;
}

static bool lines_hold(struct str lines, struct str wanted)
{
	struct str one;

	while (wanted.n && str_next(&wanted, '\n', &one))
		if (!lines_have(lines, one))
			return false;
	return true;
}

static bool lines_meet(struct str lines, struct str unwanted)
{
	struct str one;

	while (unwanted.n && str_next(&unwanted, '\n', &one))
		if (lines_have(lines, one))
			return true;
	return false;
}

bool want_has_labels(const struct place_want *want, const struct place_worker *w)
{
	return lines_hold(w->labels, want->labels) && !lines_meet(w->labels, want->without);
}

/* What the worker demands, the work has; what the work has, the worker knows. */
bool want_has_tags(const struct place_want *want, const struct place_worker *w)
{
	struct str rest = want->tags, tag;

	if (!lines_hold(want->tags, w->tags))
		return false;
	while (rest.n && str_next(&rest, '\n', &tag))
		if (!lines_have(w->tags, tag) && !lines_have(w->optional_tags, tag))
			return false;
	return true;
}

bool want_fits(const struct place_want *want, const struct place_worker *w)
{
	return (want->target.n == 0 || str_eq(want->target, w->target)) &&
	       want_has_labels(want, w) && want_has_tags(want, w);
}

/* The lists end with a line's end, so a NUL keeps the parts of the text apart. */
uint32_t want_intern(struct auction *a, const struct place_want *want)
{
	AUTO(buf_release) struct buf text = {0};
	size_t known = a->want_names.n;
	struct place_want *kept;
	const char *at;
	uint32_t n;

	buf_add_str(&text, want->target);
	buf_add_char(&text, '\0');
	buf_add_str(&text, want->labels);
	buf_add_char(&text, '\0');
	buf_add_str(&text, want->tags);
	buf_add_char(&text, '\0');
	buf_add_str(&text, want->without);
	n = names_put(&a->want_names, buf_str(&text));
	if (n < known)
		return n;
	GROW(a->wants, a->want_cap, n + 1);
	kept = &a->wants[n];
	at = a->want_names.texts[n].p;
	kept->target = (struct str){at, want->target.n};
	kept->labels = (struct str){at + want->target.n + 1, want->labels.n};
	kept->tags = (struct str){kept->labels.p + want->labels.n + 1, want->tags.n};
	kept->without = (struct str){kept->tags.p + want->tags.n + 1, want->without.n};
	return n;
}
