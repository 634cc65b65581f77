/* SPDX-License-Identifier: Apache-2.0 */
/* Values on their way into a configuration: tested, quoted, or refused. */
#include <arpa/inet.h>
#include <string.h>

#include "base/mem.h"
#include "cli/routes/template.h"

#define HOST_MAX 253
#define NAME_MAX_BYTES 128

const char *const template_target_names[N_TEMPLATE_TARGETS] = {
    [TARGET_WORD] = "word",
    [TARGET_HAPROXY] = "haproxy",
    [TARGET_NGINX] = "nginx",
    [TARGET_JSON] = "json",
    [TARGET_TEXT] = "text",
};
const char *const template_filter_names[N_TEMPLATE_FILTERS] = {
    [FILTER_NONE] = "none", [FILTER_ID] = "id", [FILTER_QUOTE] = "quote", [FILTER_HOST] = "host"};
const char *const template_test_names[N_TEMPLATE_TESTS] = {
    [TEST_NONE] = "there",
    [TEST_HOST] = "host",
    [TEST_NAME] = "name",
    [TEST_PATH] = "path",
    [TEST_PORT] = "port",
    [TEST_NUMBER] = "number",
    [TEST_TEXT] = "text",
    [TEST_LIST] = "list",
    [TEST_MAP] = "map",
};

static struct str text_of(json_t *v)
{
	return json_is_string(v) ? (struct str){json_string_value(v), json_string_length(v)}
	                         : STR_NULL;
}

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_made_of(struct str s, const char *others)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_alnum(s.p[i]) && (s.p[i] == 0 || !strchr(others, s.p[i])))
			return false;
	return s.n > 0;
}

/* --- tests --- */

static bool is_address(struct str s, int family)
{
	char text[INET6_ADDRSTRLEN + 1], raw[16];

	if (s.n == 0 || s.n >= sizeof text)
		return false;
	memcpy(text, s.p, s.n);
	text[s.n] = 0;
	return strlen(text) == s.n && inet_pton(family, text, raw) == 1;
}

/* Labels with dots between them; none begins or ends with a dash. */
static bool is_host_name(struct str s)
{
	struct str rest = s, label;

	if (!is_made_of(s, "-.") || s.n > HOST_MAX || s.p[s.n - 1] == '.')
		return false;
	while (rest.n && str_next(&rest, '.', &label))
		if (label.n == 0 || label.n > 63 || label.p[0] == '-' ||
		    label.p[label.n - 1] == '-')
			return false;
	return true;
}

bool is_host(struct str s)
{
	return is_address(s, AF_INET6) || is_host_name(s);
}

static bool is_port(json_t *v)
{
	return json_is_integer(v) && json_integer_value(v) >= 1 && json_integer_value(v) <= 65535;
}

bool value_passes(json_t *v, enum template_test test)
{
	struct str s = text_of(v);

	switch (test) {
	case TEST_HOST: return is_host(s);
	case TEST_NAME: return is_made_of(s, "._-") && s.n <= NAME_MAX_BYTES;
	case TEST_PATH: return s.n && s.p[0] == '/' && is_made_of(s, "._-/");
	case TEST_PORT: return is_port(v);
	case TEST_NUMBER: return json_is_number(v);
	case TEST_TEXT: return json_is_string(v);
	case TEST_LIST: return json_is_array(v);
	case TEST_MAP: return json_is_object(v);
	case TEST_NONE:
	case N_TEMPLATE_TESTS: break;
	}
	return v && !json_is_null(v);
}

/* --- writing --- */

static int refuse(struct problem *p, const char *what, const char *why)
{
	return problem_set(p, ERR_INVALID, "%.100s %s", what, why);
}

/* Also those of UTF-8, from U+0080 to U+009F. */
static bool has_control(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c < 0x20 || c == 0x7f ||
		    (c == 0xc2 && i + 1 < s.n && (unsigned char)s.p[i + 1] < 0xa0))
			return true;
	}
	return false;
}

static int write_bare(struct str s, const char *what, struct buf *out, struct problem *p)
{
	if (!is_made_of(s, "._-:/")) {
		refuse(p, what, "has a character that cannot stand bare in a configuration");
		return problem_hint(p, "write it with | quote or | id, or leave it out by "
		                       "{{if … is name}} or {{if … is host}}");
	}
	buf_add_str(out, s);
	return 0;
}

/* Letters, digits, - and . stay; any other byte is _ and two digits: no two names meet. */
static void write_id(struct str s, struct buf *out)
{
	for (size_t i = 0; i < s.n; i++) {
		if (is_alnum(s.p[i]) || s.p[i] == '-' || s.p[i] == '.')
			buf_add_char(out, s.p[i]);
		else
			buf_printf(out, "_%02X", (unsigned char)s.p[i]);
	}
}

/* As in a shell: nothing means anything between '…', and a ' stands between two of them. */
static void quote_haproxy(struct str s, struct buf *out)
{
	buf_add_char(out, '\'');
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\'')
			buf_add_cstr(out, "'\\''");
		else
			buf_add_char(out, s.p[i]);
	}
	buf_add_char(out, '\'');
}

static int quote_nginx(struct str s, const char *what, struct buf *out, struct problem *p)
{
	if (s.n && memchr(s.p, '$', s.n))
		return refuse(p, what, "has a $, which nginx cannot have in a text");
	buf_add_char(out, '"');
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '"' || s.p[i] == '\\')
			buf_add_char(out, '\\');
		buf_add_char(out, s.p[i]);
	}
	buf_add_char(out, '"');
	return 0;
}

/* Within a word, a quote would mean something else. */
static bool is_at_word(const struct buf *out)
{
	return out->n == 0 || strchr(" \t\n", out->p[out->n - 1]);
}

static int write_quoted(
    struct str s, enum template_target target, const char *what, struct buf *out, struct problem *p)
{
	if (target != TARGET_HAPROXY && target != TARGET_NGINX)
		return refuse(p, what, "cannot be quoted: that is for haproxy and nginx");
	if (has_control(s))
		return refuse(p, what, "has a control character");
	if (!is_at_word(out))
		return refuse(p, what, "is quoted inside a word; put a space before it");
	if (target == TARGET_NGINX)
		return quote_nginx(s, what, out, p);
	quote_haproxy(s, out);
	return 0;
}

static int write_host(struct str s, const char *what, struct buf *out, struct problem *p)
{
	if (!is_host(s))
		return refuse(p, what, "is no name of a host and no address");
	buf_printf(out, is_address(s, AF_INET6) ? "[" STR_FMT "]" : STR_FMT, STR_ARG(s));
	return 0;
}

static int write_json(json_t *v, struct buf *out)
{
	char *text = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII);

	MUST(text);
	buf_add_cstr(out, text);
	free(text);
	return 0;
}

static int write_text(struct str s, enum template_target target, enum template_filter filter,
    const char *what, struct buf *out, struct problem *p)
{
	if (filter == FILTER_QUOTE)
		return write_quoted(s, target, what, out, p);
	if (filter == FILTER_HOST)
		return write_host(s, what, out, p);
	if (filter == FILTER_ID && s.n) {
		write_id(s, out);
		return 0;
	}
	if (target != TARGET_TEXT)
		return write_bare(s, what, out, p);
	if (has_control(s))
		return refuse(p, what, "has a control character");
	buf_add_str(out, s);
	return 0;
}

int value_write(json_t *v, enum template_target target, enum template_filter filter,
    const char *what, struct buf *out, struct problem *p)
{
	AUTO(buf_release) struct buf number = {0};

	if (!v || json_is_null(v))
		return refuse(p, what, "is not there");
	if (target == TARGET_JSON && filter == FILTER_NONE)
		return write_json(v, out);
	if (json_is_array(v) || json_is_object(v))
		return refuse(p, what, json_is_array(v) ? "is a list" : "is a map");
	if (json_is_string(v))
		return write_text(text_of(v), target, filter, what, out, p);
	if (json_is_integer(v))
		buf_add_i64(&number, json_integer_value(v));
	else
		write_json(v, &number);
	return write_text(buf_str(&number), target, filter, what, out, p);
}
