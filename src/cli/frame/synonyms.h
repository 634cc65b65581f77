/* SPDX-License-Identifier: Apache-2.0 */
/* Words of other systems, and what is called so here. */
#ifndef CLI_SYNONYMS_H
#define CLI_SYNONYMS_H

/* The command that somebody meant by these words, without "reeve"; NULL: nothing is known. */
const char *synonym_of_command(const char *first, const char *second);
/* The same of the second word behind a noun. */
const char *synonym_of_verb(const char *verb);
/* The same of an option, without its dashes; `command` is its path. */
const char *synonym_of_option(const char *command, const char *name);

#endif
