/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sql/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void sql_text_release(struct sql_text *s)
{
	buf_release(&s->out);
}

/* Behind {: returns what follows the }. */
static const char *add_hint(struct sql_text *s, const char *at)
{
	size_t n = strcspn(at, "}");

	if (s->dialect->hints && n)
		buf_printf(&s->out, "INDEXED BY %.*s ", (int)n, at);
	else if (s->dialect->hints)
		buf_add_cstr(&s->out, "NOT INDEXED ");
	at += n + 1;
	return *at == ' ' ? at + 1 : at;
}

void sql_add(struct sql_text *s, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "?{");

		buf_add(&s->out, text, n);
		text += n;
		if (*text == '{') {
			text = add_hint(s, text + 1);
		} else if (*text == '?') {
			buf_add_char(&s->out, s->dialect->dollars ? '$' : '?');
			s->n_params++;
			if (s->dialect->dollars && !isdigit((unsigned char)text[1]))
				buf_add_i64(&s->out, s->n_params);
			text++;
		}
	}
}

void sql_add_columns(struct sql_text *s, const struct row_table *t, unsigned skip_flags)
{
	const char *comma = "";

	for (int i = 0; i < t->n; i++) {
		if (t->columns[i].flags & skip_flags)
			continue;
		buf_printf(&s->out, "%s%s", comma, t->columns[i].name);
		comma = ", ";
	}
}

static char *make_select(const struct row_table *t, unsigned skip_flags)
{
	struct sql_text s = {0};

	buf_add_cstr(&s.out, "SELECT ");
	sql_add_columns(&s, t, skip_flags);
	buf_printf(&s.out, " FROM %s ", t->name);
	return buf_take(&s.out);
}

/* Every read begins with it, and to make it costs more than a short one: kept for ever. */
void sql_add_select(struct sql_text *s, const struct row_table *t, unsigned skip_flags)
{
	static char *made[N_TABLES + 1][COLUMN_FAR + 1];
	char **at = &made[t->number][skip_flags], *text = __atomic_load_n(at, __ATOMIC_ACQUIRE),
	     *none = NULL;

	MUST(skip_flags <= COLUMN_FAR);
	if (!text) {
		text = make_select(t, skip_flags);
		if (!__atomic_compare_exchange_n(
		        at, &none, text, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			free(text); /* another thread was first */
			text = none;
		}
	}
	buf_add_cstr(&s->out, text);
}
