/* SPDX-License-Identifier: Apache-2.0 */
/* What was submitted last (@last), and ids as people type them. */
#ifndef CLI_LAST_H
#define CLI_LAST_H

#include "base/err.h"
#include "base/str.h"

enum last_kind { LAST_TASK, LAST_BATCH, LAST_GROUP };
/* Remembers what this user submitted last; failing to is not worth an error. */
void last_save(enum last_kind kind, const char *id);
/* What this program has submitted last, in words; NULL: nothing. */
const char *last_made(void);
int last_load(enum last_kind *ret_kind, char ret_id[25], struct problem *ret_problem);
/* 24 hex digits. */
bool is_id(const char *text);
/* An id as typed, or @last, which must then be a task. */
int id_resolve(const char *typed, char ret_id[25], struct problem *ret_problem);
/* The same for a batch, and for a group. */
int batch_resolve(const char *typed, char ret_id[25], struct problem *ret_problem);
int group_resolve(const char *typed, char ret_id[25], struct problem *ret_problem);

#endif
