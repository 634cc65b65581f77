/* SPDX-License-Identifier: Apache-2.0 */
/* One file: read it whole (bounded), strip it, parse it, and set the keys it holds. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "config/internal.h"

struct walk {
	struct config *c;
	struct where *w;
	bool has_secret;
};

static void set_key(struct walk *wk, const struct config_key *k, json_t *json)
{
	struct config *c = wk->c;
	struct value *old = &c->values[config_key_index(k)], v = {0};
	struct str text;

	wk->w->users = k->users;
	if (!value_from_json(c, wk->w, k, json, &v)) {
		value_release(&v);
		return;
	}
	text = str_of(v.text);
	wk->has_secret |=
	    k->type == KEY_TOKEN || (k->type == KEY_STORE && text.n && memchr(text.p, '@', text.n));
	v.layer = wk->w->layer;
	v.origin = arena_printf(&c->arena, "%s:%d", wk->w->name, where_line(wk->w));
	if (v.json && old->json) { /* files add to an object, member by member */
		json_t *both = json_incref(old->json);

		json_object_update(both, v.json);
		json_decref(v.json);
		v.json = both;
	}
	value_release(old);
	*old = v;
}

static void unknown_key(struct walk *wk, struct str section, const char *key)
{
	struct buf hint = {0};

	wk->w->users = section.n ? config_section_users(section) : 0;
	config_key_hint(section, str_of(key), &hint);
	report(wk->c, wk->w, "unknown key \"%s\"%s" STR_FMT, report_quote(wk->c, str_of(key)),
	    section.n ? " in " : "", STR_ARG(section));
	if (hint.n)
		report_hint(wk->c, "%s", hint.p);
	buf_release(&hint);
}

static bool renamed_key(struct walk *wk, struct str section, struct str name)
{
	const struct config_renamed *r = config_key_renamed(name);

	if (!r)
		return false;
	wk->w->users = config_section_users(section);
	report(wk->c, wk->w, "%s is now %s", r->old, r->name);
	report_hint(wk->c, "%s", r->note);
	return true;
}

static void walk(struct walk *wk, json_t *object, struct str section)
{
	uint64_t path = wk->w->path;
	struct buf name = {0};
	const char *key;
	json_t *item;

	json_object_foreach(object, key, item)
	{
		const struct config_key *k;

		buf_reset(&name);
		buf_printf(&name, STR_FMT "%s%s", STR_ARG(section), section.n ? "." : "", key);
		wk->w->path = path_key(path, str_of(key));
		/* a dot inside a key is not the dot of the table */
		k = strchr(key, '.') ? NULL : config_key_find(buf_str(&name));
		if (k) {
			set_key(wk, k, item);
		} else if (!strchr(key, '.') && renamed_key(wk, section, buf_str(&name))) {
			continue;
		} else if (strchr(key, '.') || !*key || !config_section_users(buf_str(&name))) {
			unknown_key(wk, section, key);
		} else if (!json_is_object(item)) {
			wk->w->users = config_section_users(buf_str(&name));
			report(wk->c, wk->w, "%s must be an object: {\"key\": value, …}", name.p);
		} else {
			walk(wk, item, buf_str(&name)); /* no deeper than the table's names */
		}
	}
	wk->w->path = path;
	buf_release(&name);
}

static bool is_blank(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!strchr(" \t\r\n", s.p[i]))
			return false;
	return true;
}

static void report_at(struct config *c, const struct where *w, int line, const char *what)
{
	struct paths one = {0};
	struct where at = *w;

	GROW(one.items, one.cap, 1);
	one.items[one.n++] = (struct path_line){PATH_ROOT, line};
	at.paths = &one;
	at.path = PATH_ROOT;
	report(c, &at, "%s", what);
	paths_release(&one);
}

/* Strict JSON now; an empty file is an empty object. */
static json_t *parse(struct config *c, const struct where *w, struct str text)
{
	struct buf what = {0};
	json_error_t error;
	json_t *json;

	if (is_blank(text))
		return json_object();
	json = json_loadb(text.p, text.n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
	if (json && json_is_object(json))
		return json;
	if (json) {
		report_at(c, w, 1, "a configuration is one object: {\"server\": {…}, …}");
	} else {
		buf_printf(&what, "not valid JSON: %s", report_quote(c, str_of(error.text)));
		report_at(c, w, error.line > 0 ? error.line : 1, what.p);
	}
	buf_release(&what);
	json_decref(json);
	return NULL;
}

static bool load_text(struct config *c, struct str text, struct where *w)
{
	char *copy = xstrndup(text.p, text.n);
	struct walk wk = {c, w, false};
	struct paths paths = {0};
	struct problem p = {0};
	json_t *json = NULL;
	int line = 0;

	memcpy(copy, text.p, text.n); /* also behind a NUL, which is then refused */
	if (text_strip(copy, text.n, &line, &p)) {
		report_at(c, w, line, p.what);
		if (p.hint[0])
			report_hint(c, "%s", p.hint);
	} else {
		json = parse(c, w, (struct str){copy, text.n});
	}
	if (json) {
		paths_scan(&paths, (struct str){copy, text.n});
		w->paths = &paths;
		w->path = PATH_ROOT;
		walk(&wk, json, STR(""));
		w->paths = NULL;
	}
	json_decref(json);
	paths_release(&paths);
	free_cstr(&copy);
	return wk.has_secret;
}

void file_load_text(struct config *c, struct str text, struct where *w)
{
	load_text(c, text, w);
}

static int read_all(int fd, struct buf *b)
{
	ssize_t n;

	do {
		buf_reserve(b, 65536);
		n = read(fd, b->p + b->n, 65536);
		if (n > 0)
			b->n += (size_t)n;
	} while ((n > 0 && b->n <= CONFIG_FILE_MAX) || (n < 0 && errno == EINTR));
	return n < 0 ? -errno : 0;
}

static void load_open_file(struct config *c, int fd, struct where *w)
{
	struct stat st = {0};
	struct buf b = {0};
	int err = read_all(fd, &b);

	if (err) {
		report(c, w, "cannot be read: %s", strerror(-err));
	} else if (b.n > CONFIG_FILE_MAX) {
		report(c, w, "larger than %u bytes: this is not a configuration", CONFIG_FILE_MAX);
	} else if (load_text(c, buf_str(&b), w) && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	           (st.st_mode & S_IROTH)) {
		report_warning(c, w, "holds a secret, and everybody on this machine can read it");
		report_hint(
		    c, "chmod o-r it, or keep the secret in a file of its own (token_file)");
	}
	buf_release(&b);
}

bool file_load(struct config *c, const char *path, enum layer layer)
{
	const char *slash = strrchr(path, '/');
	struct where w = {.name = path, .layer = layer};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return false;
	if (slash == path)
		w.dir = "/";
	else if (slash)
		w.dir = arena_printf(&c->arena, STR_FMT, (int)(slash - path), path);
	load_open_file(c, fd, &w);
	close(fd);
	return true;
}
