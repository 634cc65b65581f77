/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks by words: of their names, labels, commands, actions and params. A word is a run of ASCII
 * letters and digits and of whatever is not ASCII; letters are the same in both cases
 * (model/fold.h). All else only parts words. Every store finds by these rules, with an index or
 * without.
 */
#ifndef MODEL_SEARCH_H
#define MODEL_SEARCH_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#define SEARCH_QUERY_MAX 1024
#define SEARCH_WORDS_MAX 16
#define SEARCH_WORD_BYTES 64   /* what is longer is cut, there and here */
#define SEARCH_BEGINS_MIN 3    /* of a word's beginning (build*) so much must be given */
#define SEARCH_TEXT_BYTES 8192 /* of a task's words; those beyond are not found */

/* All words must be there. */
struct search_words {
	struct {
		struct str text;
		bool begins; /* the text is the beginning of a word */
	} words[SEARCH_WORDS_MAX];
	size_t n; /* 0: nothing is looked for */
};

struct task_spec;

/* The words lie in the arena. ERR_INVALID: there are none, or too many. */
int search_parse(
    struct arena *a, struct str query, struct search_words *ret_search, struct problem *p);
/* The words of a task, each followed by a blank; `out` is emptied first. */
void search_text(const struct task_spec *t, struct buf *out);
bool search_matches(const struct search_words *s, struct str text);

/* How the index of words stands that searches may use. */
struct search_index {
	const char
	    *trouble;     /* why there is none, in words; NULL: there is one, or none is needed */
	int64_t lacks_ms; /* wall clock: tasks since then are not in it yet; 0: all are */
};
/* How old the oldest task is that it lacks. */
int64_t search_lag_ms(const struct search_index *i, int64_t now_ms);

#endif
