/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/file/reader.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/mem.h"
#include "graph/file/json_events.h"
#include "graph/limits.h"

struct reader {
	yaml_parser_t parser;
	struct json_events json;
	bool is_json; /* and read as that: the parser is not used */
	yaml_event_t event;
	bool has_event;     /* that has to be deleted */
	uint32_t n_lines;   /* of the text */
	struct arena arena; /* of the present entry */
	size_t n_values;    /* in it */
};

static uint32_t line_of(const yaml_mark_t *mark)
{
	return (uint32_t)mark->line + 1;
}

static uint32_t lines_of(struct str text)
{
	uint32_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == '\n';
	return text.n && text.p[text.n - 1] != '\n' ? n + 1 : n ? n : 1;
}

/* What libyaml says, with its line; a pair of escapes for one character is JSON's alone. */
static int bad_text(struct reader *r, struct problem *p)
{
	const yaml_parser_t *y = &r->parser;
	uint32_t line = line_of(&y->problem_mark);

	if (line > r->n_lines) /* its end is no line of its own */
		line = r->n_lines;
	if (y->error == YAML_MEMORY_ERROR)
		return problem_set(p, ERR_TOO_LARGE, "there is not enough memory to read this");
	if (y->error == YAML_READER_ERROR) {
		problem_set(p, ERR_INVALID, "byte %zu of the text: %s", y->problem_offset,
		    y->problem ? y->problem : "not UTF-8");
		return problem_hint(p, "the file must be UTF-8 text");
	}
	problem_set(p, ERR_INVALID, "line %u: this is neither JSON nor YAML: %s", line,
	    y->problem ? y->problem : "it cannot be read");
	if (y->problem && strstr(y->problem, "Unicode character escape"))
		problem_hint(p, "write the character itself in place of its escapes");
	return p ? p->code : ERR_INVALID;
}

static void drop_event(struct reader *r)
{
	if (r->has_event)
		yaml_event_delete(&r->event);
	r->has_event = false;
}

/* The next event in r->event, which stays until it is dropped or the next one is asked for. */
static int next_event(struct reader *r, struct problem *p)
{
	drop_event(r);
	if (r->is_json) {
		json_next_event(&r->json, &r->event);
		return (int)r->event.type;
	}
	if (!yaml_parser_parse(&r->parser, &r->event))
		return bad_text(r, p);
	r->has_event = true;
	return r->event.type;
}

static const yaml_char_t *anchor_of(const yaml_event_t *e)
{
	switch (e->type) {
	case YAML_SCALAR_EVENT: return e->data.scalar.anchor;
	case YAML_SEQUENCE_START_EVENT: return e->data.sequence_start.anchor;
	case YAML_MAPPING_START_EVENT: return e->data.mapping_start.anchor;
	default: return NULL;
	}
}

static const yaml_char_t *tag_of(const yaml_event_t *e)
{
	switch (e->type) {
	case YAML_SCALAR_EVENT: return e->data.scalar.tag;
	case YAML_SEQUENCE_START_EVENT: return e->data.sequence_start.tag;
	case YAML_MAPPING_START_EVENT: return e->data.mapping_start.tag;
	default: return NULL;
	}
}

/* Few bytes with anchors can stand for very many values, so there are none. */
static int check_event(const struct reader *r, struct problem *p)
{
	const yaml_event_t *e = &r->event;
	uint32_t line = line_of(&e->start_mark);

	if (e->type == YAML_ALIAS_EVENT || anchor_of(e))
		return problem_set(
		    p, ERR_INVALID, "line %u: anchors (& and *) are not taken here", line);
	if (tag_of(e))
		return problem_set(p, ERR_INVALID, "line %u: tags (!) are not taken here", line);
	return 0;
}

static struct node *node_make(struct reader *r, enum node_kind kind)
{
	struct node *v = arena_zalloc(&r->arena, sizeof *v);

	v->kind = kind;
	v->line = line_of(&r->event.start_mark);
	return v;
}

static struct str event_text(struct reader *r)
{
	return arena_str(&r->arena,
	    (struct str){(const char *)r->event.data.scalar.value, r->event.data.scalar.length});
}

static struct node *node_of_event(struct reader *r)
{
	struct node *v;

	if (r->event.type == YAML_SEQUENCE_START_EVENT)
		return node_make(r, NODE_LIST);
	if (r->event.type == YAML_MAPPING_START_EVENT)
		return node_make(r, NODE_MAP);
	v = node_make(r, NODE_TEXT);
	v->is_plain = r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	v->text = event_text(r);
	return v;
}

static int count_value(struct reader *r, size_t depth, struct problem *p)
{
	uint32_t line = line_of(&r->event.start_mark);

	if (depth > PLAN_FILE_DEPTH_MAX)
		return problem_set(
		    p, ERR_TOO_LARGE, "line %u: nested deeper than %d", line, PLAN_FILE_DEPTH_MAX);
	if (++r->n_values > PLAN_ENTRY_VALUES_MAX)
		return problem_set(p, ERR_TOO_LARGE,
		    "line %u: this entry has more than %d values, the most that one may", line,
		    PLAN_ENTRY_VALUES_MAX);
	return 0;
}

static void append(struct node *to, struct node *v)
{
	if (to->last)
		to->last->next = v;
	else
		to->first = v;
	to->last = v;
	to->n++;
}

/* A member's name must be a text; then comes its value. */
static int read_name(struct reader *r, struct str *ret_name, struct problem *p)
{
	uint32_t line = line_of(&r->event.start_mark);

	if (r->event.type != YAML_SCALAR_EVENT)
		return problem_set(p, ERR_INVALID, "line %u: a member's name must be a text", line);
	*ret_name = event_text(r);
	if (ret_name->n > JOB_NAME_MAX)
		return problem_set(p, ERR_TOO_LARGE,
		    "line %u: a member's name has %zu bytes; it may have %d", line, ret_name->n,
		    JOB_NAME_MAX);
	return next_event(r, p);
}

/* The whole value that begins with the present event. */
static int read_node(struct reader *r, struct node **ret_node, struct problem *p)
{
	struct node *open[PLAN_FILE_DEPTH_MAX + 1], *v;
	size_t depth = 0;
	int rc;

	for (;;) {
		struct str name = STR_NULL;

		if (depth && (r->event.type == YAML_SEQUENCE_END_EVENT ||
		                 r->event.type == YAML_MAPPING_END_EVENT)) {
			v = open[--depth];
		} else {
			if ((rc = check_event(r, p)) < 0)
				return rc;
			if (depth && open[depth - 1]->kind == NODE_MAP &&
			    ((rc = read_name(r, &name, p)) < 0 || (rc = check_event(r, p)) < 0))
				return rc;
			if ((rc = count_value(r, depth, p)) < 0)
				return rc;
			v = node_of_event(r);
			v->key = name;
			if (depth)
				append(open[depth - 1], v);
			if (v->kind != NODE_TEXT)
				open[depth++] = v;
		}
		if (depth == 0) {
			*ret_node = v;
			return 0;
		}
		if ((rc = next_event(r, p)) < 0)
			return rc;
	}
}

int reader_open(struct str text, struct reader **ret_reader, struct problem *p)
{
	return reader_open_as(text, "packages or jobs",
	    "a file begins {\"packages\": [ or {\"jobs\": [", ret_reader, p);
}

int reader_open_as(struct str text, const char *wanted, const char *hint,
    struct reader **ret_reader, struct problem *p)
{
	struct reader *r = xcalloc(1, sizeof *r);
	int rc = 0;

	r->is_json = json_is_plain(text);
	r->json.text = text;
	r->n_lines = lines_of(text);
	MUST(yaml_parser_initialize(&r->parser));
	yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r->parser, (const unsigned char *)text.p, text.n);
	for (int i = 0; i < 3 && rc >= 0; i++) /* the stream, its document, its value */
		rc = next_event(r, p);
	if (rc >= 0)
		rc = check_event(r, p);
	if (rc >= 0 && r->event.type != YAML_MAPPING_START_EVENT) {
		rc = problem_set(p, ERR_INVALID, "this is no map of %s", wanted);
		problem_hint(p, "%s", hint);
	}
	if (rc < 0)
		reader_free(r);
	else
		*ret_reader = r;
	return rc < 0 ? rc : 0;
}

void reader_free(struct reader *r)
{
	if (!r)
		return;
	drop_event(r);
	buf_release(&r->json.unquoted);
	yaml_parser_delete(&r->parser);
	arena_release(&r->arena);
	free(r);
}

static void begin_entry(struct reader *r)
{
	arena_reset(&r->arena);
	r->n_values = 0;
}

/* Behind the map come the ends of document and stream, and nothing else. */
static int read_end(struct reader *r, struct problem *p)
{
	int rc = next_event(r, p);

	if (rc >= 0)
		rc = next_event(r, p);
	if (rc < 0 || rc == YAML_STREAM_END_EVENT)
		return rc < 0 ? rc : 0;
	return problem_set(p, ERR_INVALID, "line %u: a second document follows; a file has one",
	    line_of(&r->event.start_mark));
}

int reader_member(struct reader *r, struct str *ret_name, uint32_t *ret_line, struct problem *p)
{
	int rc = next_event(r, p);

	if (rc < 0)
		return rc;
	if (rc == YAML_MAPPING_END_EVENT)
		return read_end(r, p);
	begin_entry(r);
	*ret_line = line_of(&r->event.start_mark);
	if ((rc = check_event(r, p)) < 0)
		return rc;
	rc = read_name(r, ret_name, p);
	return rc < 0 ? rc : 1;
}

int reader_value(struct reader *r, struct node **ret_node, struct problem *p)
{
	return read_node(r, ret_node, p);
}

int reader_list(struct reader *r, struct problem *p)
{
	int rc = check_event(r, p);

	if (rc < 0 || r->event.type == YAML_SEQUENCE_START_EVENT)
		return rc;
	return problem_set(p, ERR_INVALID, "line %u: a list is wanted here, in [ and ]",
	    line_of(&r->event.start_mark));
}

int reader_item(struct reader *r, struct node **ret_node, struct problem *p)
{
	int rc = next_event(r, p);

	if (rc < 0)
		return rc;
	if (rc == YAML_SEQUENCE_END_EVENT)
		return 0;
	begin_entry(r);
	rc = read_node(r, ret_node, p);
	return rc < 0 ? rc : 1;
}
