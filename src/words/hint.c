/* SPDX-License-Identifier: Apache-2.0 */
/* What could be done about a refusal, in words. */
#include "words/words.h"

static const char *const sentences[N_HINTS] = {
    [HINT_NONE] = "",
    [HINT_LIST] = "list them with: reeve {other} ls",
    [HINT_REVOKE] = "revoke it, or choose another name",
    [HINT_CHANGE] = "change it with: reeve {other} set {typed}",
    [HINT_QUEUE_CANCEL] = "cancel them (reeve cancel --queue {typed}), wait, and try again",
    [HINT_START_WAIT] = "try again when the wait is over: reeve status",
    [HINT_WORKER_LOSS] =
        ("wait until it is lost; if its machine is certainly gone: reeve worker rm "
         "--lost {typed}"),
    [HINT_WORKER_LOST] = "if its machine is certainly gone: reeve worker rm --lost {typed}",
    [HINT_WORKER_TELL] = "it can only be told when it is: reeve worker ls",
    /* said behind a sentence */
    [HINT_HOW_LONG] = " (reeve status says how long)",
    [HINT_WHEN_LOST] = " (reeve worker ls says when)",
    [HINT_WORKERS_REMOVE] = ": remove lost ones with `reeve worker rm`, or raise it",
};

void words_hint(const struct hint *h, struct problem *p)
{
	struct arena a = {0};
	struct str words;

	if (!h->code)
		return;
	words = words_fill(&a, sentences[h->code],
	    &(struct facts){.name = str_of(h->name), .other = str_of(kind_names[h->kind])});
	problem_hint(p, STR_FMT, STR_ARG(words));
	arena_release(&a);
}

struct str words_joined(struct arena *a, struct str said, enum hint_code hint)
{
	if (!hint)
		return said;
	return arena_strf(a, STR_FMT "%s", STR_ARG(said), sentences[hint]);
}

struct str words_outcome(struct arena *a, const struct outcome *o)
{
	return words_joined(a, str_of(o->why ? o->why : err_title(o->code)), o->hint);
}
