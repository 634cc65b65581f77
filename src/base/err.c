/* SPDX-License-Identifier: Apache-2.0 */
/* Names, statuses and exit codes of every error, all from the one table in err.h. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
	int code;
	const char *name;
	int http;
	int exit;
	const char *title;
} table[] = {
#define X(code, n, name, http, exit, title) {code, name, http, exit, title},
    ERR_TABLE(X)
#undef X
};

#define N_ERRS ((int)(sizeof table / sizeof table[0]))

static int index_of(int code)
{
	for (int i = 0; i < N_ERRS; i++)
		if (table[i].code == code)
			return i;
	return N_ERRS - 1;
}

const char *err_name(int code)
{
	return code == ERR_OK ? "ok" : table[index_of(code)].name;
}

const char *err_title(int code)
{
	return code == ERR_OK ? "All is well" : table[index_of(code)].title;
}

int err_http_status(int code)
{
	return code == ERR_OK ? 200 : table[index_of(code)].http;
}

int err_exit_code(int code)
{
	return code == ERR_OK ? 0 : table[index_of(code)].exit;
}

int err_from_name(const char *name)
{
	for (int i = 0; i < N_ERRS; i++)
		if (strcmp(table[i].name, name) == 0)
			return table[i].code;
	return ERR_INTERNAL;
}

int problem_set(struct problem *p, int code, const char *fmt, ...)
{
	va_list ap;

	if (!p)
		return code;
	p->code = code;
	p->hint[0] = 0;
	p->field[0] = 0;
	va_start(ap, fmt);
	vsnprintf(p->what, sizeof p->what, fmt, ap);
	va_end(ap);
	return code;
}

int problem_hint(struct problem *p, const char *fmt, ...)
{
	va_list ap;

	if (!p)
		return ERR_INTERNAL;
	va_start(ap, fmt);
	vsnprintf(p->hint, sizeof p->hint, fmt, ap);
	va_end(ap);
	return p->code;
}

int problem_field(struct problem *p, const char *field)
{
	if (!p)
		return ERR_INTERNAL;
	snprintf(p->field, sizeof p->field, "%s", field);
	return p->code;
}
