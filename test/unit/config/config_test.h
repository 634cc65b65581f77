/* SPDX-License-Identifier: Apache-2.0 */
/* Loading a configuration from text, and looking for a problem by its whole line. */
#ifndef TEST_CONFIG_TEST_H
#define TEST_CONFIG_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *const test_environment[] = {"HOME=/home/me", NULL};

static inline struct config_sources test_text(const char *text)
{
	return (struct config_sources){
	    .text = str_of(text), .environment = test_environment, .uid = 1000};
}

/* Every problem, one per line. The caller frees. */
static inline char *test_problems(const struct config *c)
{
	struct buf b = {0};

	for (size_t i = 0; i < config_problem_count(c); i++) {
		config_problem_write(config_problem_at(c, i), &b);
		buf_add_char(&b, '\n');
	}
	return buf_take(&b);
}

static inline struct config *test_load_good(const struct config_sources *src)
{
	struct problem p = {0};
	struct config *c;
	int err = config_load(src, &c, &p);

	if (err)
		print_error("%s; %s\n", p.what, p.hint);
	assert_int_equal(err, 0);
	return c;
}

#endif
