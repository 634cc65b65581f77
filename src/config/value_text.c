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

struct job {
	struct config *c;
	const struct where *w;
	const struct config_key *k;
	struct value *v;
};

static bool refuse(const struct job *j, struct str s)
{
	if (j->k->type == KEY_TOKEN) /* never repeat a secret */
		report(j->c, j->w, "%s is not %s", j->k->name, config_type_text(j->k->type));
	else
		report(j->c, j->w, "%s is \"%s\", which is not %s", j->k->name,
		    report_quote(j->c, s), config_type_text(j->k->type));
	return false;
}

static bool keep(const struct job *j, struct str s)
{
	j->v->text = arena_str(&j->c->arena, s.p ? s : STR("")).p;
	return true;
}

static bool is_plain(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
			return false;
	return s.n <= TEXT_MAX_BYTES;
}

static bool parse_text(const struct job *j, struct str s)
{
	return is_plain(s) ? keep(j, s) : refuse(j, s);
}

static bool parse_name(const struct job *j, struct str s)
{
	static const char fit[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                          "0123456789._-:@+";

	if (!s.n || s.n > NAME_MAX_BYTES)
		return refuse(j, s);
	for (size_t i = 0; i < s.n; i++)
		if (!s.p[i] || !strchr(fit, s.p[i]))
			return refuse(j, s);
	return keep(j, s);
}

static bool parse_path(const struct job *j, struct str s)
{
	const char *home = source_home(j->c);
	struct arena *a = &j->c->arena;

	if (!s.n || !is_plain(s))
		return refuse(j, s);
	if (str_starts(s, "~/") && home)
		j->v->text = arena_printf(a, "%s" STR_FMT, home, (int)s.n - 1, s.p + 1);
	else if (s.p[0] != '/' && j->w->dir)
		j->v->text = arena_printf(a, "%s/" STR_FMT, j->w->dir, STR_ARG(s));
	else
		return keep(j, s);
	return true;
}

static bool check_address(const struct job *j, struct str s)
{
	const char *why;

	if (address_check(s, &why))
		return true;
	report(j->c, j->w, "%s: \"%s\" is not an address", j->k->name, report_quote(j->c, s));
	report_hint(j->c, "%s", why);
	return false;
}

static bool parse_address(const struct job *j, struct str s)
{
	return check_address(j, s) && keep(j, s);
}

static bool parse_store(const struct job *j, struct str s)
{
	bool good = (str_starts(s, "sqlite:") && s.n > 7) || str_is(s, "memory:") ||
	            (str_starts(s, "postgres://") && s.n > 11) ||
	            (str_starts(s, "postgresql://") && s.n > 13);

	return good && is_plain(s) ? keep(j, s) : refuse(j, s);
}

static bool parse_endpoint(const struct job *j, struct str s)
{
	const char *why;
	bool url = (str_starts(s, "http://") && s.n > 7) || (str_starts(s, "https://") && s.n > 8);

	if (!is_plain(s) || (s.n && memchr(s.p, ' ', s.n) && !str_starts(s, "unix:")))
		return refuse(j, s);
	if (url || (str_starts(s, "unix:/") && s.n > 6) || address_check(s, &why))
		return keep(j, s);
	return refuse(j, s);
}

static bool parse_base_path(const struct job *j, struct str s)
{
	if (!s.n)
		return keep(j, s);
	if (s.p[0] == '/' && s.p[s.n - 1] != '/' && is_plain(s) && !memchr(s.p, ' ', s.n) &&
	    !memchr(s.p, '?', s.n) && !memchr(s.p, '#', s.n))
		return keep(j, s);
	refuse(j, s);
	report_hint(j->c, "begin with a slash and end without one");
	return false;
}

static bool parse_token(const struct job *j, struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || s.p[i] >= 0x7f)
			return refuse(j, s);
	if (!s.n || s.n > TOKEN_MAX_BYTES)
		return refuse(j, s);
	if (s.n < TOKEN_SHORT) {
		report_warning(j->c, j->w, "%s has only %zu characters", j->k->name, s.n);
		report_hint(j->c, "make a long one: openssl rand -hex 32");
	}
	return keep(j, s);
}

static bool parse_enum(const struct job *j, struct str s)
{
	struct str rest = str_of(j->k->choices), part;
	const char *names[16];
	const char *near;
	size_t n = 0;

	for (; str_next(&rest, '|', &part); n++) {
		MUST(n < sizeof names / sizeof names[0]);
		names[n] = arena_str(&j->c->arena, part).p;
		if (str_eq(part, s)) {
			j->v->number = (int64_t)n;
			return keep(j, s);
		}
	}
	report(j->c, j->w, "%s is \"%s\"; it must be one of %s", j->k->name, report_quote(j->c, s),
	    j->k->choices);
	near = s.n <= 64 ? str_nearest(s, names, n) : NULL;
	if (near)
		report_hint(j->c, "did you mean \"%s\"?", near);
	return false;
}

static bool parse_bool(const struct job *j, struct str s)
{
	static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (str_is(s, words[i])) {
			j->v->number = i % 2;
			return true;
		}
	return refuse(j, s);
}

static bool parse_int(const struct job *j, struct str s)
{
	if (!str_to_i64(s, INT64_MIN, INT64_MAX, &j->v->number))
		return refuse(j, s);
	return value_check_number(j->c, j->w, j->k, j->v->number);
}

static bool parse_size(const struct job *j, struct str s)
{
	if (!str_to_bytes(s, &j->v->number))
		return refuse(j, s);
	return value_check_number(j->c, j->w, j->k, j->v->number);
}

static bool parse_duration(const struct job *j, struct str s)
{
	if (!str_to_duration_ms(s, &j->v->number))
		return refuse(j, s);
	return value_check_number(j->c, j->w, j->k, j->v->number);
}

static bool parse_mode(const struct job *j, struct str s)
{
	int64_t mode = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '7')
			return refuse(j, s);
		mode = mode * 8 + (s.p[i] - '0');
	}
	if (s.n < 3 || s.n > 4 || mode > 0777)
		return refuse(j, s);
	j->v->number = mode;
	return keep(j, s);
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

static bool parse_list(const struct job *j, struct str s)
{
	struct str rest = s, part;
	struct value *v = j->v;
	size_t cap = 0;

	while (str_next(&rest, ',', &part)) {
		part = trim(part);
		if (!part.n)
			continue;
		if (!is_plain(part) || v->n_list >= LIST_MAX)
			return refuse(j, s);
		if (j->k->type == KEY_ADDRESSES && !check_address(j, part))
			return false;
		if (v->n_list == cap) {
			const char **old = v->list;

			cap = cap ? cap * 2 : 8;
			v->list = arena_alloc(&j->c->arena, cap * sizeof *v->list);
			if (v->n_list)
				memcpy(v->list, old, v->n_list * sizeof *old);
		}
		v->list[v->n_list++] = arena_str(&j->c->arena, part).p;
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

static bool parse_object(const struct job *j, struct str s)
{
	json_t *json = NULL;

	if (s.n <= CONFIG_FILE_MAX && str_starts(trim(s), "{"))
		json = json_loadb(s.p, s.n, JSON_REJECT_DUPLICATES, NULL);
	else if (j->k->type == KEY_MAP)
		json = map_from_pairs(s);
	if (!json)
		return refuse(j, s);
	if (!(j->k->type == KEY_MAP ? value_check_map : plugins_check)(j->c, j->w, j->k, json)) {
		json_decref(json);
		return false;
	}
	j->v->json = json;
	return true;
}

bool value_from_text(struct config *c, const struct where *w, const struct config_key *k,
    struct str text, struct value *v)
{
	static bool (*const parsers[N_KEY_TYPES])(const struct job *, struct str) = {
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

	return parsers[k->type](&(struct job){c, w, k, v}, text);
}
