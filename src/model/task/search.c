/* SPDX-License-Identifier: Apache-2.0 */
#include "model/task/search.h"

#include <string.h>

#include "base/mem.h"
#include "model/fold.h"
#include "model/task/body.h"
#include "model/task/task.h"

static bool is_letter(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c >= 0x80;
}

/* The next run of letters; the rest begins behind it. */
static bool next_word(struct str *rest, struct str *ret_word)
{
	size_t from = 0, to;

	while (from < rest->n && !is_letter((unsigned char)rest->p[from]))
		from++;
	for (to = from; to < rest->n && is_letter((unsigned char)rest->p[to]);)
		to++;
	*ret_word = (struct str){rest->p + from, to - from};
	*rest = (struct str){rest->p + to, rest->n - to};
	return to > from;
}

/* How much of it counts, when its letters have lost their case: a cut may go through a letter. */
static size_t cut(size_t n)
{
	return n > SEARCH_WORD_BYTES ? SEARCH_WORD_BYTES : n;
}

/* The bytes that one letter may have, behind the cut. */
static size_t fold_bytes(size_t n)
{
	return n > SEARCH_WORD_BYTES + 4 ? SEARCH_WORD_BYTES + 4 : n;
}

/* False: there is no room for more. */
static bool add_words(struct buf *out, struct str text)
{
	struct str word;

	while (text.n && next_word(&text, &word)) {
		size_t at = out->n;

		if (at + cut(word.n) + 1 > SEARCH_TEXT_BYTES)
			return false;
		buf_add(out, word.p, fold_bytes(word.n));
		fold_case(out->p + at, out->n - at);
		out->n = at + cut(word.n);
		buf_add_char(out, ' ');
	}
	return true;
}

struct adding {
	struct buf *out;
	struct buf plain; /* scratch */
};

static bool add_text(void *arg, struct str text, bool escaped)
{
	struct adding *a = arg;

	if (!escaped || !memchr(text.p, '\\', text.n))
		return add_words(a->out, text);
	buf_reset(&a->plain);
	body_unescape(text, text.n, &a->plain);
	return add_words(a->out, buf_str(&a->plain));
}

void search_text(const struct task_spec *t, struct buf *out)
{
	struct adding a = {.out = out};

	buf_reset(out);
	if (add_words(out, t->name) && add_words(out, t->labels))
		body_texts(t->body, add_text, &a);
	buf_release(&a.plain);
}

static int wrong(struct problem *p, const char *what, const char *hint)
{
	problem_set(p, ERR_INVALID, "%s", what);
	return problem_hint(p, "%s", hint);
}

static bool has_word(const struct search_words *s, struct str word, bool begins)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->words[i].begins == begins && str_eq(s->words[i].text, word))
			return true;
	return false;
}

static int add_word(
    struct arena *a, struct str word, bool begins, struct search_words *s, struct problem *p)
{
	size_t n = fold_bytes(word.n);
	char *text = arena_memdup(a, word.p, n);

	fold_case(text, n);
	word = (struct str){text, cut(n)};
	if (has_word(s, word, begins))
		return 0;
	if (begins && word.n < SEARCH_BEGINS_MIN)
		return wrong(p, "the beginning of a word must have three letters or more",
		    "write bui* for all words that begin with bui");
	if (s->n == SEARCH_WORDS_MAX)
		return wrong(p, "more than 16 words are looked for", "leave out the common ones");
	s->words[s->n].text = word;
	s->words[s->n++].begins = begins;
	return 0;
}

int search_parse(
    struct arena *a, struct str query, struct search_words *ret_search, struct problem *p)
{
	struct search_words s = {0};
	struct str word;
	int rc = 0;

	if (query.n > SEARCH_QUERY_MAX)
		return wrong(p, "the search has more than 1024 bytes", "give fewer words");
	while (rc == 0 && query.n && next_word(&query, &word))
		rc = add_word(a, word, query.n && query.p[0] == '*', &s, p);
	if (rc)
		return rc;
	if (s.n == 0)
		return wrong(p, "there is no word to look for",
		    "give words or numbers that are in a name, label, command or parameter");
	*ret_search = s;
	return 0;
}

static bool has(struct str text, struct str word, bool begins)
{
	struct str one;

	while (str_next(&text, ' ', &one))
		if (one.n >= word.n && (begins || one.n == word.n) &&
		    memcmp(one.p, word.p, word.n) == 0)
			return true;
	return false;
}

bool search_matches(const struct search_words *s, struct str text)
{
	for (size_t i = 0; i < s->n; i++)
		if (!has(text, s->words[i].text, s->words[i].begins))
			return false;
	return true;
}

int64_t search_lag_ms(const struct search_index *i, int64_t now_ms)
{
	return i->lacks_ms && i->lacks_ms < now_ms ? now_ms - i->lacks_ms : 0;
}
