/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/env.h"

#include <stdlib.h>
#include <string.h>

static void put(struct env *e, const char *var)
{
	if (e->n == e->cap) {
		const char **grown;

		e->cap = e->cap ? e->cap * 2 : 32;
		grown = arena_alloc(e->arena, e->cap * sizeof *grown);
		if (e->n)
			memcpy(grown, e->vars, e->n * sizeof *grown);
		e->vars = grown;
	}
	e->vars[e->n++] = var;
}

bool env_set(struct env *e, struct str name, struct str value)
{
	char *var;

	if (name.n == 0 || memchr(name.p, '=', name.n) || memchr(name.p, 0, name.n) ||
	    (value.n && memchr(value.p, 0, value.n)))
		return false;
	var = arena_alloc(e->arena, name.n + value.n + 2);
	memcpy(var, name.p, name.n);
	var[name.n] = '=';
	if (value.n)
		memcpy(var + name.n + 1, value.p, value.n);
	var[name.n + 1 + value.n] = 0;
	for (size_t i = 0; i < e->n; i++)
		if (strncmp(e->vars[i], var, name.n + 1) == 0) {
			e->vars[i] = var;
			return true;
		}
	put(e, var);
	return true;
}

void env_init_clean(struct env *e, struct arena *a)
{
	static const char *const kept[][2] = {
	    {"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
	    {"HOME", "/"},
	    {"USER", NULL},
	    {"LANG", "C.UTF-8"},
	};

	*e = (struct env){.arena = a};
	for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
		const char *ours = getenv(kept[i][0]);

		if (!ours)
			ours = kept[i][1];
		if (ours)
			env_set(e, str_of(kept[i][0]), str_of(ours));
	}
}

const char *const *env_list(struct env *e)
{
	put(e, NULL);
	e->n--;
	return e->vars;
}
