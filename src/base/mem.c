/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation that never returns NULL, and the one place where a broken assertion ends. */
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *or_die(void *p)
{
	if (p)
		return p;
	fputs("reeve: out of memory\n", stderr);
	abort();
}

void *xmalloc(size_t n)
{
	return or_die(malloc(n ? n : 1));
}

void *xcalloc(size_t count, size_t size)
{
	return or_die(calloc(count ? count : 1, size ? size : 1));
}

void *xrealloc(void *p, size_t n)
{
	return or_die(realloc(p, n ? n : 1));
}

char *xstrdup(const char *s)
{
	return or_die(strdup(s));
}

char *xstrndup(const char *s, size_t n)
{
	char *copy = xmalloc(n + 1);

	memcpy(copy, s, n);
	copy[n] = 0;
	return copy;
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s = NULL;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		s = NULL;
	va_end(ap);
	return or_die(s);
}

void *grow_array(void *items, size_t item_size, size_t *cap, size_t need)
{
	size_t n = *cap ? *cap : 8;

	if (need <= *cap)
		return items;
	while (n < need)
		n *= 2;
	*cap = n;
	return or_die(reallocarray(items, n, item_size));
}

void free_cstr(char **s)
{
	free(*s);
	*s = NULL;
}

void must_failed(const char *cond, const char *file, int line, const char *func)
{
	fprintf(stderr, "reeve: bug: %s:%d: %s: `%s` does not hold\n", file, line, func, cond);
	abort();
}
