/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the server's brain says as codes and facts, in sentences for people. Each code has one row
 * in a table of sentences, in which {name} stands for a fact; all that is made lives in the arena.
 */
#ifndef WORDS_WORDS_H
#define WORDS_WORDS_H

#include "core/effects.h"
#include "core/say.h"

struct str words_why(struct arena *a, const struct why *w);  /* what holds a task */
struct str words_lift(struct arena *a, const struct why *w); /* and what would lift that */
struct str words_wait(struct arena *a, const struct wait *w);

/* Adds what could be done about it, if the brain knows that. */
void words_hint(const struct hint *h, struct problem *p);
/* Why one task of a command was refused. */
struct str words_outcome(struct arena *a, const struct outcome *o);
/* A sentence of the brain, and behind it what could be done. */
struct str words_joined(struct arena *a, struct str said, enum hint_code hint);

/*
 * A sentence with its facts filled in: {fact}, or {before|fact}, of which nothing is left when the
 * fact is empty. The facts are in the table of words.c.
 */
struct str words_fill(struct arena *a, const char *sentence, const struct facts *f);

#endif
