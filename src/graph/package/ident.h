/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of packages: origin/name, and with a version, or a version and a release, the name of one
 * build. Versions compare as versions: 10 is newer than 9.
 */
#ifndef GRAPH_PACKAGE_IDENT_H
#define GRAPH_PACKAGE_IDENT_H

#include "base/err.h"
#include "base/str.h"

struct ident {
	struct str key; /* "origin/name" */
	struct str origin, name;
	struct str version, release; /* empty: not said */
};

/* At least origin/name. The parts lie in `text`. */
int ident_parse(struct str text, struct ident *ret_ident, struct problem *p);
/* All four parts. */
int ident_parse_full(struct str text, struct ident *ret_ident, struct problem *p);

/*
 * Below, at or above zero, as `a` is older, the same or newer. A number counts as a number; a part
 * more is newer (1.0 < 1.0.1, 1.0 < 1.0a), unless it begins with ~, or with - and a letter
 * (1.0-rc1 < 1.0). Zero only if both are the same text.
 */
int version_cmp(struct str a, struct str b);
/* By version, then by release. */
int ident_cmp_age(const struct ident *a, const struct ident *b);

#endif
