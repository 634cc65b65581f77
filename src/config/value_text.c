/* SPDX-License-Identifier: Apache-2.0 */
/* One value from text: a variable, a flag, a default, or a string in the file. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/internal.h"
#include "model/limits.h"

#define TEXT_MAX_BYTES 4096
#define TOKEN_MAX_BYTES 512
#define TOKEN_SHORT 16
#define LIST_MAX 1024

struct parsing {
	struct config *c;
	const struct where *w;
	const struct config_key *k;
	struct value *v;
};

static bool refuse(const struct parsing *at, struct str s)
{
	if (at->k->type == KEY_TOKEN) /* never repeat a secret */
		report(at->c, at->w, "%s is not %s", at->k->name, config_type_text(at->k->type));
	else
		report(at->c, at->w, "%s is \"%s\", which is not %s", at->k->name,
		    report_quote(at->c, s), config_type_text(at->k->type));
	return false;
}

static bool keep(const struct parsing *at, struct str s)
{
	at->v->text = arena_str(&at->c->arena, s.p ? s : STR("")).p;
	return true;
}

static bool is_plain(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
			return false;
	return s.n <= TEXT_MAX_BYTES;
}

static bool parse_text(const struct parsing *at, struct str s)
{
	return is_plain(s) ? keep(at, s) : refuse(at, s);
}

static bool parse_name(const struct parsing *at, struct str s)
{
	static const char fit[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                          "0123456789._-:@+";

	if (!s.n || s.n > NAME_MAX_BYTES)
		return refuse(at, s);
	for (size_t i = 0; i < s.n; i++)
		if (!s.p[i] || !strchr(fit, s.p[i]))
			return refuse(at, s);
	return keep(at, s);
}

static bool parse_path(const struct parsing *at, struct str s)
{
	const char *home = source_home(at->c);
	struct arena *a = &at->c->arena;

	if (!s.n || !is_plain(s))
		return refuse(at, s);
	if (str_starts(s, "~/") && home)
		at->v->text = arena_printf(a, "%s" STR_FMT, home, (int)s.n - 1, s.p + 1);
	else if (s.p[0] != '/' && at->w->dir)
		at->v->text = arena_printf(a, "%s/" STR_FMT, at->w->dir, STR_ARG(s));
	else
		return keep(at, s);
	return true;
}

static bool check_address(const struct parsing *at, struct str s)
{
	const char *why;

	if (address_check(s, &why))
		return true;
	report(at->c, at->w, "%s: \"%s\" is not an address", at->k->name, report_quote(at->c, s));
	report_hint(at->c, "%s", why);
	return false;
}

static bool parse_address(const struct parsing *at, struct str s)
{
	return check_address(at, s) && keep(at, s);
}

static bool parse_store(const struct parsing *at, struct str s)
{
	bool good = (str_starts(s, "sqlite:") && s.n > 7) || str_is(s, "memory:") ||
	            (str_starts(s, "postgres://") && s.n > 11) ||
	            (str_starts(s, "postgresql://") && s.n > 13);

	return good && is_plain(s) ? keep(at, s) : refuse(at, s);
}

static bool parse_endpoint(const struct parsing *at, struct str s)
{
	const char *why;
	bool url = (str_starts(s, "http://") && s.n > 7) || (str_starts(s, "https://") && s.n > 8);

	if (!is_plain(s) || (s.n && memchr(s.p, ' ', s.n) && !str_starts(s, "unix:")))
		return refuse(at, s);
	if (url || (str_starts(s, "unix:/") && s.n > 6) || address_check(s, &why))
		return keep(at, s);
	return refuse(at, s);
}

static bool parse_base_path(const struct parsing *at, struct str s)
{
	if (!s.n)
		return keep(at, s);
	if (s.p[0] == '/' && s.p[s.n - 1] != '/' && is_plain(s) && !memchr(s.p, ' ', s.n) &&
	    !memchr(s.p, '?', s.n) && !memchr(s.p, '#', s.n))
		return keep(at, s);
	refuse(at, s);
	report_hint(at->c, "begin with a slash and end without one");
	return false;
}

static bool parse_token(const struct parsing *at, struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || s.p[i] >= 0x7f)
			return refuse(at, s);
	if (!s.n || s.n > TOKEN_MAX_BYTES)
		return refuse(at, s);
	if (s.n < TOKEN_SHORT) {
		report_warning(at->c, at->w, "%s has only %zu characters", at->k->name, s.n);
		report_hint(at->c, "make a long one: openssl rand -hex 32");
	}
	return keep(at, s);
}

static bool parse_enum(const struct parsing *at, struct str s)
{
	struct str rest = str_of(at->k->choices), part;
	const char *names[16];
	const char *near;
	size_t n = 0;

	for (; str_next(&rest, '|', &part); n++) {
		MUST(n < sizeof names / sizeof names[0]);
		names[n] = arena_str(&at->c->arena, part).p;
		if (str_eq(part, s)) {
			at->v->number = (int64_t)n;
			return keep(at, s);
		}
	}
	report(at->c, at->w, "%s is \"%s\"; it must be one of %s", at->k->name,
	    report_quote(at->c, s), at->k->choices);
	near = s.n <= 64 ? str_nearest(s, names, n) : NULL;
	if (near)
		report_hint(at->c, "did you mean \"%s\"?", near);
	return false;
}

static bool parse_bool(const struct parsing *at, struct str s)
{
	static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (str_is(s, words[i])) {
			at->v->number = i % 2;
			return true;
		}
	return refuse(at, s);
}

static bool parse_int(const struct parsing *at, struct str s)
{
	if (!str_to_i64(s, INT64_MIN, INT64_MAX, &at->v->number))
		return refuse(at, s);
	return value_check_number(at->c, at->w, at->k, at->v->number);
}

static bool parse_size(const struct parsing *at, struct str s)
{
	if (!str_to_bytes(s, &at->v->number))
		return refuse(at, s);
	return value_check_number(at->c, at->w, at->k, at->v->number);
}

static bool parse_duration(const struct parsing *at, struct str s)
{
	if (!str_to_duration_ms(s, &at->v->number))
		return refuse(at, s);
	return value_check_number(at->c, at->w, at->k, at->v->number);
}

static bool parse_mode(const struct parsing *at, struct str s)
{
	int64_t mode = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '7')
			return refuse(at, s);
		mode = mode * 8 + (s.p[i] - '0');
	}
	if (s.n < 3 || s.n > 4 || mode > 0777)
		return refuse(at, s);
	at->v->number = mode;
	return keep(at, s);
}

static struct str trim(struct str s)
{
	while (s.n && (*s.p == ' ' || *s.p == '\t')) {
		s.p++;
		s.n--;
	}
	while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
		s.n--;
	return s;
}

static bool parse_list(const struct parsing *at, struct str s)
{
	struct str rest = s, part;
	struct value *v = at->v;
	size_t cap = 0;

	while (str_next(&rest, ',', &part)) {
		part = trim(part);
		if (!part.n)
			continue;
		if (!is_plain(part) || v->n_list >= LIST_MAX)
			return refuse(at, s);
		if (at->k->type == KEY_ADDRESSES && !check_address(at, part))
			return false;
		if (v->n_list == cap) {
			const char **old = v->list;

			cap = cap ? cap * 2 : 8;
			v->list = arena_alloc(&at->c->arena, cap * sizeof *v->list);
			if (v->n_list)
				memcpy(v->list, old, v->n_list * sizeof *old);
		}
		v->list[v->n_list++] = arena_str(&at->c->arena, part).p;
	}
	return true;
}

/* "key=value,key=value", for flags and variables. */
static json_t *map_from_pairs(struct str s)
{
	json_t *map = json_object();
	struct str rest = s, part;

	while (str_next(&rest, ',', &part)) {
		const char *eq;

		part = trim(part);
		if (!part.n)
			continue;
		eq = memchr(part.p, '=', part.n);
		if (!eq || json_object_setn_new(map, part.p, (size_t)(eq - part.p),
		               json_stringn(eq + 1, part.n - (size_t)(eq + 1 - part.p)))) {
			json_decref(map);
			return NULL;
		}
	}
	return map;
}

static bool parse_object(const struct parsing *at, struct str s)
{
	json_t *json = NULL;

	if (s.n <= CONFIG_FILE_MAX && str_starts(trim(s), "{"))
		json = json_loadb(s.p, s.n, JSON_REJECT_DUPLICATES, NULL);
	else if (at->k->type == KEY_MAP)
		json = map_from_pairs(s);
	if (!json)
		return refuse(at, s);
	if (!(at->k->type == KEY_MAP ? value_check_map : plugins_check)(
	        at->c, at->w, at->k, json)) {
		json_decref(json);
		return false;
	}
	at->v->json = json;
	return true;
}

bool value_from_text(struct config *c, const struct where *w, const struct config_key *k,
    struct str text, struct value *v)
{
	static bool (*const parsers[N_KEY_TYPES])(const struct parsing *, struct str) = {
	    [KEY_TEXT] = parse_text,
	    [KEY_NAME] = parse_name,
	    [KEY_PATH] = parse_path,
	    [KEY_ADDRESS] = parse_address,
	    [KEY_STORE] = parse_store,
	    [KEY_ENDPOINT] = parse_endpoint,
	    [KEY_BASE_PATH] = parse_base_path,
	    [KEY_TOKEN] = parse_token,
	    [KEY_ENUM] = parse_enum,
	    [KEY_BOOL] = parse_bool,
	    [KEY_INT] = parse_int,
	    [KEY_SIZE] = parse_size,
	    [KEY_DURATION] = parse_duration,
	    [KEY_MODE] = parse_mode,
	    [KEY_LIST] = parse_list,
	    [KEY_ADDRESSES] = parse_list,
	    [KEY_MAP] = parse_object,
	    [KEY_PLUGINS] = parse_object,
	};

	return parsers[k->type](&(struct parsing){c, w, k, v}, text);
}
