/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A domain: who says which services are desired. While it is fresh its owner says that the desired
 * set is complete; without that nothing is ever stopped as surplus. A service names its domain, and
 * one that nobody has made is never fresh.
 */
#ifndef MODEL_DOMAIN_H
#define MODEL_DOMAIN_H

#include "model/id.h"
#include "model/rows/field.h"

#define DOMAINS_MAX 100000
#define DOMAIN_FOR_EVER INT64_MAX /* fresh_until_ms */

struct domain_row {
	rid id;
	struct str name;
	int64_t ttl_ms;         /* fresh for so long after its owner has said so; 0: for ever */
	int64_t fresh_until_ms; /* 0: it is not fresh */
	int64_t ctime_ms, mtime_ms;
	int64_t version; /* rises with every change: the ETag */
};

extern const struct row_table domain_table; /* model/rows/row.h */
extern const struct field domain_fields[];

/* A clock that was set back makes nothing fresh for longer than it is for. */
bool domain_is_fresh(const struct domain_row *d, int64_t now_ms);

#endif
