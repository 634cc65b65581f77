/* SPDX-License-Identifier: Apache-2.0 */
/* The numbered migrations, embedded from migrations/ when the program is built. */
#ifndef STORE_MIGRATIONS_H
#define STORE_MIGRATIONS_H

struct migration {
	const char *up, *down;
};

extern const struct migration migrations[]; /* [0] leads from version 0 to version 1 */
extern const int n_migrations;

#endif
