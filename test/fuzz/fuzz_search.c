/* SPDX-License-Identifier: Apache-2.0 */
/* Words looked for, and words of a task whose body is arbitrary bytes; what is found is there. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "model/task/body.h"
#include "model/task/deeds.h"
#include "model/task/search.h"
#include "model/task/task.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_words(const struct search_words *s)
{
	MUST(s->n >= 1 && s->n <= SEARCH_WORDS_MAX);
	for (size_t i = 0; i < s->n; i++) {
		MUST(s->words[i].text.n >= 1 && s->words[i].text.n <= SEARCH_WORD_BYTES);
		for (size_t k = 0; k < s->words[i].text.n; k++) {
			unsigned char c = (unsigned char)s->words[i].text.p[k];

			MUST((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c >= 0x80);
		}
	}
}

/* A task's own words find it. */
static void check_finds(struct str body)
{
	AUTO(arena_release) struct arena a = {0};
	AUTO(buf_release) struct buf text = {0};
	const struct task_spec spec = {.body = body};
	struct search_words s;
	struct problem p;
	struct str first;

	search_text(&spec, &text);
	MUST(text.n <= SEARCH_TEXT_BYTES);
	first = buf_str(&text);
	if (first.n > SEARCH_QUERY_MAX)
		first.n = (size_t)((char *)memchr(first.p, ' ', first.n) - first.p);
	if (first.n && search_parse(&a, first, &s, &p) == 0)
		MUST(search_matches(&s, buf_str(&text)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena_release) struct arena a = {0};
	AUTO(buf_release) struct buf summary = {0};
	struct str s = {(const char *)data, size}, rest = s;
	struct search_words words;
	struct problem p;
	struct deed d;

	if (search_parse(&a, s, &words, &p) == 0)
		check_words(&words);
	check_finds(s);
	body_summary(s, &summary);
	MUST(summary.n <= SUMMARY_MAX_BYTES);
	while (deeds_next(&rest, &d))
		MUST(d.verb < N_DEEDS);
	return 0;
}
