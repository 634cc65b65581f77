/* SPDX-License-Identifier: Apache-2.0 */
/* Which tasks are meant: the same filters from a query string and from a JSON body. */
#ifndef API_FILTER_H
#define API_FILTER_H

#include "api/frame/call.h"

/* On false the problem has been sent. Strings are copied: a reader thread may use the filter. */
bool filter_from_query(struct call *c, struct task_filter *ret_filter);
int filter_from_json(struct call *c, json_t *object, struct task_filter *ret_filter);
bool filter_is_empty(const struct task_filter *f);
void filter_add_states(struct task_filter *f, const char *const *names); /* good ones, then NULL */
extern const char *const live_states[];

#endif
