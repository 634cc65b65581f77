/* SPDX-License-Identifier: Apache-2.0 */
/* What a table of members says of requests and answers, as JSON Schema. */
#include <stdio.h>

#include "api/frame/fields_out.h"
#include "model/limits.h"

#define REF(name) "\"$ref\":\"#/components/schemas/" name "\""

static void add_object(
    struct buf *b, const struct field *fields, enum shape shape, const char *type, bool or_null);

static void add_type(struct buf *b, const char *type, bool or_null)
{
	jw_key(b, "type");
	buf_printf(b, or_null ? "[\"%s\",\"null\"]" : "\"%s\"", type);
}

static void add_ref(struct buf *b, const char *ref, bool or_null)
{
	if (or_null)
		jw_raw(b, STR("\"oneOf\":[{"));
	jw_raw(b, str_of(ref));
	if (or_null)
		buf_add_cstr(b, "},{\"type\":\"null\"}]");
}

static void add_number(struct buf *b, const struct field *f, bool given, bool or_null)
{
	add_type(b, "integer", or_null);
	if (!given || (!f->min && !f->max))
		return;
	jw_mi64(b, "minimum", f->min);
	if (f->max < INT64_MAX / 2)
		jw_mi64(b, "maximum", f->max);
}

static void add_text(struct buf *b, const struct field *f, bool given, bool or_null)
{
	bool is_name = f->kind == FIELD_OBJECT_NAME;

	add_type(b, "string", or_null);
	if (given && is_name)
		jw_mi64(b, "minLength", 1);
	if (given && (is_name || (f->kind == FIELD_TEXT && f->max)))
		jw_mi64(b, "maxLength", is_name ? NAME_MAX_BYTES : f->max);
}

static void add_choice(struct buf *b, const struct field *f, bool or_null)
{
	jw_key(b, "enum");
	jw_open(b, '[');
	for (size_t i = 0; i < f->n_names; i++)
		if (f->names[i])
			jw_str(b, str_of(f->names[i]));
	if (or_null)
		jw_null(b);
	jw_close(b, ']');
}

static void add_list(struct buf *b, const struct field *f, bool given, bool or_null)
{
	add_type(b, "array", or_null);
	jw_raw(b, STR("\"items\":{\"type\":\"string\"}"));
	if (given && f->kind == FIELD_LINES && f->max)
		jw_mi64(b, "maxItems", f->max);
}

static void add_strings(struct buf *b, const struct field *f, bool given)
{
	jw_raw(b, STR("\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}"));
	if (given && f->max)
		jw_mi64(b, "maxProperties", f->max);
}

/* "90s", or 90 */
static void add_texts_and_numbers(struct buf *b, bool or_null)
{
	jw_key(b, "type");
	buf_add_cstr(b, or_null ? "[\"string\",\"number\",\"null\"]" : "[\"string\",\"number\"]");
}

static void add_span(struct buf *b, enum shape shape, bool or_null)
{
	if (shape == SHAPE_SHOWN)
		add_type(b, "integer", or_null);
	else if (shape == SHAPE_SETTINGS)
		add_texts_and_numbers(b, or_null);
	else
		add_ref(b, REF("Duration"), or_null);
}

static void add_kind(struct buf *b, const struct field *f, enum shape shape)
{
	bool given = shape != SHAPE_SHOWN;
	bool or_null =
	    shape == SHAPE_SETTINGS || f->flags & (given ? FIELD_NULL_GIVEN : FIELD_NULL_SHOWN);

	switch (f->kind) {
	case FIELD_ID: add_ref(b, REF("Id"), or_null); break;
	case FIELD_BOOL:
	case FIELD_NOT: add_type(b, "boolean", or_null); break;
	case FIELD_I32:
	case FIELD_I64: add_number(b, f, given, or_null); break;
	case FIELD_SIZE: add_ref(b, REF("Size"), false); break;
	case FIELD_DURATION:
	case FIELD_SECONDS: add_span(b, shape, or_null); break;
	case FIELD_TIME:
	case FIELD_PAST:
		if (given)
			add_texts_and_numbers(b, or_null);
		else
			add_ref(b, REF("Time"), or_null);
		break;
	case FIELD_CHOICE: add_choice(b, f, or_null); break;
	case FIELD_NAMES:
	case FIELD_PATHS:
	case FIELD_LINES: add_list(b, f, given, or_null); break;
	case FIELD_LABELS:
	case FIELD_STRINGS: add_strings(b, f, given); break;
	case FIELD_RUN: add_ref(b, REF("RunSettings"), or_null); break;
	case FIELD_NEED: add_ref(b, given ? REF("NeedGiven") : REF("Need"), or_null); break;
	case FIELD_OBJECT: add_object(b, f->table, shape, "object", or_null); break;
	case FIELD_OBJECTS:
		add_type(b, "array", or_null);
		jw_key(b, "items");
		fields_schema(b, f->table, shape, NULL);
		break;
	case FIELD_OTHER: /* true, false, or more */
		add_object(b, f->table, shape, "boolean\",\"object", or_null);
		break;
	default: add_text(b, f, given, or_null); break;
	}
}

static void add_member(struct buf *b, const struct field *f, enum shape shape)
{
	jw_open(b, '{');
	if (f->about)
		jw_mcstr(b, "description", f->about);
	if (!f->schema)
		add_kind(b, f, shape);
	else if (f->schema[1] != '}') /* without its brackets; between them is nothing: anything */
		jw_raw(b, (struct str){f->schema + 1, str_of(f->schema).n - 2});
	if (shape == SHAPE_CREATE && f->usual)
		jw_mcstr(b, "default", f->usual);
	jw_close(b, '}');
}

static bool is_in(const struct field *f, enum shape shape)
{
	if (shape == SHAPE_SETTINGS)
		return true;
	return f->flags & (shape == SHAPE_SHOWN ? FIELD_SHOWN : FIELD_GIVEN);
}

static bool is_required(const struct field *f, enum shape shape)
{
	if (shape == SHAPE_SHOWN)
		return f->flags & FIELD_SHOWN && !(f->flags & FIELD_RARE);
	return shape == SHAPE_CREATE && f->flags & FIELD_GIVEN && f->flags & FIELD_NEEDED;
}

static void add_required(struct buf *b, const struct field *fields, enum shape shape)
{
	char key[FIELD_KEY_MAX];
	bool any = false;

	for (const struct field *f = fields; f->name; f++) {
		if (!is_required(f, shape))
			continue;
		if (!any) {
			jw_key(b, "required");
			jw_open(b, '[');
		}
		any = true;
		jw_str(b, str_of(field_key(f, shape == SHAPE_SHOWN, key)));
	}
	if (any)
		jw_close(b, ']');
}

static void add_object(
    struct buf *b, const struct field *fields, enum shape shape, const char *type, bool or_null)
{
	char key[FIELD_KEY_MAX];

	add_type(b, type, or_null);
	jw_key(b, "properties");
	jw_open(b, '{');
	for (const struct field *f = fields; f->name; f++)
		if (is_in(f, shape)) {
			jw_key(b, field_key(f, shape == SHAPE_SHOWN, key));
			add_member(b, f, shape);
		}
	jw_close(b, '}');
	add_required(b, fields, shape);
	if (shape != SHAPE_SHOWN)
		jw_mbool(b, "additionalProperties", false);
}

void fields_schema(struct buf *b, const struct field *fields, enum shape shape, const char *about)
{
	jw_open(b, '{');
	if (about)
		jw_mcstr(b, "description", about);
	add_object(b, fields, shape, "object", false);
	jw_close(b, '}');
}
