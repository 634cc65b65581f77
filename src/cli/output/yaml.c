/* SPDX-License-Identifier: Apache-2.0 */
/* JSON as YAML, through libyaml's emitter, so that quoting is never ours to get wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "base/mem.h"
#include "cli/output/output.h"

static void emit(yaml_emitter_t *e, yaml_event_t *event)
{
	yaml_emitter_emit(e, event);
}

/* Strings that a YAML reader would take for something else are quoted. */
static bool looks_special(const char *s)
{
	static const char *const words[] = {"", "~", "null", "Null", "NULL", "true", "True", "TRUE",
	    "false", "False", "FALSE", "yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON",
	    "off", "Off", "OFF", "y", "Y", "n", "N", "<<", "="};

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (!strcmp(s, words[i]))
			return true;
	/* Numbers, times and the like all begin so. */
	return (s[0] >= '0' && s[0] <= '9') || strchr("+-.", s[0]);
}

static void emit_text(yaml_emitter_t *e, const char *text, size_t n, bool quote)
{
	yaml_event_t event;
	yaml_scalar_style_t style =
	    quote ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_PLAIN_SCALAR_STYLE;

	if (yaml_scalar_event_initialize(
	        &event, NULL, NULL, (const yaml_char_t *)text, (int)n, 1, 1, style))
		emit(e, &event);
}

static void emit_value(yaml_emitter_t *e, json_t *j);

static void emit_object(yaml_emitter_t *e, json_t *j)
{
	yaml_mapping_style_t style =
	    json_object_size(j) ? YAML_BLOCK_MAPPING_STYLE : YAML_FLOW_MAPPING_STYLE;
	yaml_event_t event;
	const char *key;
	json_t *value;

	yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, style);
	emit(e, &event);
	json_object_foreach(j, key, value)
	{
		emit_text(e, key, strlen(key), looks_special(key));
		emit_value(e, value);
	}
	yaml_mapping_end_event_initialize(&event);
	emit(e, &event);
}

static void emit_array(yaml_emitter_t *e, json_t *j)
{
	yaml_sequence_style_t style =
	    json_array_size(j) ? YAML_BLOCK_SEQUENCE_STYLE : YAML_FLOW_SEQUENCE_STYLE;
	yaml_event_t event;
	json_t *item;
	size_t i;

	yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, style);
	emit(e, &event);
	json_array_foreach(j, i, item) emit_value(e, item);
	yaml_sequence_end_event_initialize(&event);
	emit(e, &event);
}

static void emit_value(yaml_emitter_t *e, json_t *j)
{
	if (json_is_object(j)) {
		emit_object(e, j);
	} else if (json_is_array(j)) {
		emit_array(e, j);
	} else if (json_is_string(j)) {
		emit_text(e, json_string_value(j), json_string_length(j),
		    looks_special(json_string_value(j)));
	} else {
		AUTO(free_cstr) char *text = json_dumps(j, JSON_ENCODE_ANY | json_reals(j));

		emit_text(e, text ? text : "null", strlen(text ? text : "null"), false);
	}
}

void yaml_print(FILE *f, json_t *j)
{
	yaml_emitter_t e;
	yaml_event_t event;

	yaml_emitter_initialize(&e);
	yaml_emitter_set_output_file(&e, f);
	yaml_emitter_set_unicode(&e, 1);
	yaml_emitter_set_width(&e, -1);
	yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING);
	emit(&e, &event);
	yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1);
	emit(&e, &event);
	emit_value(&e, j);
	yaml_document_end_event_initialize(&event, 1);
	emit(&e, &event);
	yaml_stream_end_event_initialize(&event);
	emit(&e, &event);
	yaml_emitter_delete(&e);
}
