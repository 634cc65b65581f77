/* SPDX-License-Identifier: Apache-2.0 */
/* Between the two halves of libreeve-cron: this one is pure, src/zones reads files. */
#ifndef CRON_LIBRARY_H
#define CRON_LIBRARY_H

#include "cron/reeve-cron.h"
#include "cron/zone/zone.h"

/* The library's zone is ours under another name; nobody outside can look inside. */
static inline struct reeve_cron_zone *library_zone(struct cron_zone *z)
{
	return (struct reeve_cron_zone *)z;
}

static inline const struct cron_zone *library_inner_zone(const struct reeve_cron_zone *z)
{
	return (const struct cron_zone *)z;
}

/* Fills the caller's error, if there is one, and returns the library's code. */
int library_error(struct reeve_cron_error *ret_error, const struct problem *p);

#endif
