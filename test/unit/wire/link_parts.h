/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the link's codec share: there and back again, and messages that are good. */
#ifndef TEST_WIRE_LINK_PARTS_H
#define TEST_WIRE_LINK_PARTS_H

/* cmocka wants these before itself */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wire/link/link.h"

extern struct arena arena;
extern struct buf out; /* the last frame */

int setup(void **state);
void assert_str(struct str got, const char *want);
int to_server(const struct link_to_server *m, struct link_to_server *ret);
int to_worker(const struct link_to_worker *m, struct link_to_worker *ret);
struct link_hello good_hello(void);
void assert_set(const struct set_id *got, const struct set_id *want);
struct link_knock good_knock(void);
struct link_ended good_ended(void);
int teardown(void **state);

#endif
