/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory: allocation that cannot fail quietly (out of memory ends the process with a message),
 * scope cleanup, and checked assertions that stay on in release builds.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

void *xmalloc(size_t n);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *p, size_t n);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Grows a vector so that it can hold `need` items; doubles, keeps *cap in items. */
void *grow_array(void *items, size_t item_size, size_t *cap, size_t need);
#define GROW(v, cap, need) ((v) = grow_array((v), sizeof *(v), &(cap), (need)))

/* AUTO(free_cstr) char *s = …; frees s when the scope ends. `return TAKE(s)` hands it over. */
#define AUTO(fn) __attribute__((cleanup(fn)))
#define TAKE(p)                             \
	({                                  \
		__typeof__(p) taken_ = (p); \
		(p) = NULL;                 \
		taken_;                     \
	})
void free_cstr(char **s);

/* A bug in Reeve, not a failure of the world: say where and stop before harm is done. */
#define MUST(cond) ((cond) ? (void)0 : must_failed(#cond, __FILE__, __LINE__, __func__))
void must_failed(const char *cond, const char *file, int line, const char *func)
    __attribute__((noreturn));

#endif
