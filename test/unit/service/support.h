/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of services share. */
#ifndef TEST_SERVICE_SUPPORT_H
#define TEST_SERVICE_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N_OF(array) (sizeof(array) / sizeof(array)[0])

/* How many random cases: few in every run, as many as are asked for by hand. */
static inline long cases_wanted(long usual)
{
	const char *text = getenv("REEVE_SERVICE_CASES");

	return text ? strtol(text, NULL, 10) : usual;
}

#endif
