/* SPDX-License-Identifier: Apache-2.0 */
#include "api/frame/fields_out.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

const char *field_key(const struct field *f, bool shown, char scratch[FIELD_KEY_MAX])
{
	if (!shown || (f->kind != FIELD_DURATION && f->kind != FIELD_SECONDS))
		return f->name;
	snprintf(scratch, FIELD_KEY_MAX, "%s_ms", f->name);
	return scratch;
}

static int64_t number_of(const struct showing *s, const struct field *f)
{
	const void *at = (const char *)s->row + f->offset;

	if (f->size == sizeof(int32_t))
		return *(const int32_t *)at;
	return f->size == sizeof(bool) ? *(const bool *)at : *(const int64_t *)at;
}

static struct str text_of(const struct showing *s, const struct field *f)
{
	if (f->flags & FIELD_SECRET && !s->full)
		return STR_NULL;
	return *(const struct str *)((const char *)s->row + f->offset);
}

static void write_number(struct buf *b, const struct field *f, int64_t n)
{
	bool none = f->flags & FIELD_NULL_SHOWN && n < !(f->flags & FIELD_NEGATIVE_NONE);
	char key[FIELD_KEY_MAX];

	jw_mi64_null(b, field_key(f, true, key), n, !none);
}

static void write_text(struct buf *b, const struct field *f, struct str text)
{
	if (f->flags & FIELD_NULL_SHOWN)
		jw_mstr_null(b, f->name, text);
	else
		jw_mstr(b, f->name, text);
}

/* JSON that is kept as text. */
static void write_raw(struct buf *b, const struct field *f, struct str text)
{
	jw_key(b, f->name);
	jw_raw(b, text.n ? text : f->flags & FIELD_NULL_SHOWN ? STR("null") : STR("{}"));
}

static void write_one(struct buf *b, const struct showing *s, const struct field *f)
{
	switch (f->kind) {
	case FIELD_OBJECT:
		jw_key(b, f->name);
		jw_open(b, '{');
		fields_write(b, s, f->table);
		jw_close(b, '}');
		break;
	case FIELD_ID: jw_mid_null(b, f->name, s->ids, (rid)number_of(s, f)); break;
	case FIELD_BOOL: jw_mbool(b, f->name, number_of(s, f)); break;
	case FIELD_I32:
	case FIELD_I64:
	case FIELD_DURATION: write_number(b, f, number_of(s, f)); break;
	case FIELD_SECONDS: write_number(b, f, number_of(s, f) * 1000); break;
	case FIELD_TIME: jw_mtime_null(b, f->name, number_of(s, f)); break;
	case FIELD_CHOICE: jw_mcstr(b, f->name, f->names[number_of(s, f)]); break;
	case FIELD_LINES: jw_mlines(b, f->name, text_of(s, f)); break;
	case FIELD_LABELS: jw_mlabels(b, f->name, text_of(s, f)); break;
	case FIELD_NEED: jw_mneed(b, f->name, text_of(s, f)); break;
	case FIELD_STRINGS:
	case FIELD_RUN: write_raw(b, f, text_of(s, f)); break;
	case FIELD_OBJECT_NAME:
	case FIELD_NAME:
	case FIELD_TEXT: write_text(b, f, text_of(s, f)); break;
	default: MUST(!"a kind of member that is shown");
	}
}

/* A member that has no place in the row. */
static void write_own(struct buf *b, const struct showing *s, const struct field *f)
{
	const struct field_out *own = s->own;

	while (strcmp(own->name, f->name) != 0)
		MUST((++own)->name);
	jw_key(b, f->name);
	own->write(b, s->arg);
}

void fields_write(struct buf *b, const struct showing *s, const struct field *fields)
{
	for (const struct field *f = fields; f->name; f++)
		if (f->flags & FIELD_SHOWN && f->size)
			write_one(b, s, f);
		else if (f->flags & FIELD_SHOWN)
			write_own(b, s, f);
}
