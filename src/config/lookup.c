/* SPDX-License-Identifier: Apache-2.0 */
/* Finding keys in the table, and guessing which one was meant. */
#include <string.h>

#include "base/mem.h"
#include "config/keys.h"

#define LEVEL_MAX 128 /* more than the table has rows */

static const struct {
	const char *name, *text;
} types[N_KEY_TYPES] = {
    [KEY_TEXT] = {"text", "text"},
    [KEY_NAME] = {"name", "a name of letters, digits and any of . _ - : @ +"},
    [KEY_PATH] = {"path", "a path"},
    [KEY_ADDRESS] = {"address", "an address such as \"127.0.0.1:7400\""},
    [KEY_STORE] = {"store", "\"sqlite:PATH\", \"postgres://user@host/database\" or \"memory:\""},
    [KEY_ENDPOINT] = {"server", "\"unix:PATH\", \"http://host:port\" or \"https://host:port\""},
    [KEY_BASE_PATH] = {"path", "a path such as \"/reeve\", or \"\""},
    [KEY_TOKEN] = {"secret", "a token: up to 512 visible characters without spaces"},
    [KEY_ENUM] = {"choice", "one of a few words"},
    [KEY_BOOL] = {"true or false", "true or false"},
    [KEY_INT] = {"number", "a whole number"},
    [KEY_SIZE] = {"size", "a size such as \"64MiB\", or a number of bytes"},
    [KEY_DURATION] = {"duration",
        "a duration such as \"30s\", \"15m\", \"2d\", or a number of seconds"},
    [KEY_MODE] = {"mode", "octal permissions in quotes, such as \"0660\""},
    [KEY_LIST] = {"list", "a list of strings"},
    [KEY_ADDRESSES] = {"list of addresses", "a list of addresses such as [\"127.0.0.1:7400\"]"},
    [KEY_MAP] = {"object", "an object of strings such as {\"key\": \"value\"}"},
    [KEY_PLUGINS] = {"object", "an object such as {\"name\": {\"exec\": [\"/path/to/program\"]}}"},
};

const char *config_type_text(enum config_type t)
{
	return types[t].text;
}

const char *config_type_name(enum config_type t)
{
	return types[t].name;
}

const struct config_key *config_key_find(struct str name)
{
	for (size_t i = 0; i < n_config_keys; i++)
		if (str_is(name, config_keys[i].name))
			return &config_keys[i];
	return NULL;
}

static const struct config_renamed renamed[] = {
    {"server.lose_after", "REEVE_SERVER_LOSE_AFTER", "server.lose_unhealthy_after",
        "it counts from when a worker is unhealthy, not from its last word: 565s are now 500s"},
};

const struct config_renamed *config_renamed_at(size_t i)
{
	return i < sizeof renamed / sizeof renamed[0] ? &renamed[i] : NULL;
}

const struct config_renamed *config_key_renamed(struct str old)
{
	const struct config_renamed *r;

	for (size_t i = 0; (r = config_renamed_at(i)); i++)
		if (str_is(old, r->old))
			return r;
	return NULL;
}

const struct config_key *config_key_by_flag(const char *flag, unsigned users)
{
	for (size_t i = 0; i < n_config_keys; i++) {
		const struct config_key *k = &config_keys[i];
		const char *f = k->flag;

		/* a flag belongs to the section of its user; "log" is everybody's */
		if (f && !strcmp(f, flag) && (k->users & users) &&
		    !(users == CONFIG_FOR_CLI && (k->users & CONFIG_FOR_SERVER)))
			return k;
	}
	return NULL;
}

size_t config_key_index(const struct config_key *k)
{
	return (size_t)(k - config_keys);
}

static bool is_inside(const struct config_key *k, struct str section)
{
	return !section.n || (strlen(k->name) > section.n && k->name[section.n] == '.' &&
	                         !memcmp(k->name, section.p, section.n));
}

unsigned config_section_users(struct str name)
{
	unsigned users = 0;

	for (size_t i = 0; i < n_config_keys; i++)
		if (is_inside(&config_keys[i], name))
			users |= config_keys[i].users;
	return users;
}

/* The names one level below the section, each once (the table keeps sections together). */
static size_t level_names(struct str section, const char *names[LEVEL_MAX], struct buf *store)
{
	size_t starts[LEVEL_MAX], n = 0, last = 0;

	for (size_t i = 0; i < n_config_keys; i++) {
		const char *name = config_keys[i].name + (section.n ? section.n + 1 : 0);
		size_t len;

		if (!is_inside(&config_keys[i], section))
			continue;
		len = strcspn(name, ".");
		if (n && strlen(store->p + last) == len && !memcmp(store->p + last, name, len))
			continue;
		MUST(n < LEVEL_MAX);
		starts[n++] = last = store->n;
		buf_add(store, name, len);
		buf_add_char(store, '\0');
	}
	for (size_t i = 0; i < n; i++)
		names[i] = store->p + starts[i];
	return n;
}

/* The right word in the wrong section: the key that ends in it, if there is only one. */
static const char *elsewhere(struct str name)
{
	const char *found = NULL;

	for (size_t i = 0; i < n_config_keys; i++) {
		const char *last = strrchr(config_keys[i].name, '.') + 1;

		if (!str_is(name, last))
			continue;
		if (found)
			return NULL;
		found = config_keys[i].name;
	}
	return found;
}

static bool is_disbatch(struct str name)
{
	static const char *const old[] = {"mongohost", "database", "attributes", "auth",
	    "monitoring", "balance", "web_extensions", "task_runner", "gfs", "web_root",
	    "views_dir", "log4perl"};

	for (size_t i = 0; i < sizeof old / sizeof old[0]; i++)
		if (str_is(name, old[i]))
			return true;
	return false;
}

void config_key_hint(struct str section, struct str name, struct buf *ret_hint)
{
	struct buf store = {0};
	const char *names[LEVEL_MAX] = {NULL};
	size_t n = level_names(section, names, &store);
	const char *near = name.n <= 64 ? str_nearest(name, names, n) : NULL;
	const char *far = near ? NULL : elsewhere(name);

	if (near)
		buf_printf(ret_hint, "did you mean \"%s\"?", near);
	else if (!section.n && config_key_find(name))
		buf_printf(ret_hint, "write it in sections: {\"" STR_FMT "\": {\"…\": …}}",
		    (int)(memchr(name.p, '.', name.n) - (const void *)name.p), name.p);
	else if (far)
		buf_printf(ret_hint, "did you mean \"%s\"?", far);
	else if (!section.n && is_disbatch(name))
		buf_add_cstr(ret_hint, "a key of Disbatch: see docs/coming-from/disbatch.md");
	buf_release(&store);
}
