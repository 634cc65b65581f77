/* SPDX-License-Identifier: Apache-2.0 */
/* One row per configuration key: everything that validation, help, hints and the docs know. */
#ifndef CONFIG_KEYS_H
#define CONFIG_KEYS_H

#include <stdbool.h>

#include "base/str.h"

enum config_type {
	KEY_TEXT,
	KEY_NAME,      /* of a worker, zone, target */
	KEY_PATH,      /* "~/" and, in files, relative to the file's folder */
	KEY_ADDRESS,   /* host:port */
	KEY_STORE,     /* sqlite:PATH, memory:, postgres://… */
	KEY_ENDPOINT,  /* unix:PATH, http(s)://host:port, host:port */
	KEY_BASE_PATH, /* "" or "/reeve" */
	KEY_TOKEN,     /* secret */
	KEY_ENUM,
	KEY_BOOL,
	KEY_INT,
	KEY_SIZE,
	KEY_DURATION,
	KEY_MODE, /* octal permissions */
	KEY_LIST,
	KEY_ADDRESSES,
	KEY_MAP, /* object of strings */
	KEY_PLUGINS,
	N_KEY_TYPES
};

#define CONFIG_FOR_SERVER 1u
#define CONFIG_FOR_WORKER 2u
#define CONFIG_FOR_CLI 4u
#define CONFIG_FOR_DAEMONS (CONFIG_FOR_SERVER | CONFIG_FOR_WORKER)
#define CONFIG_FOR_ALL 7u

struct config_key {
	const char *name;
	enum config_type type;
	const char *value; /* default, as text; {…} is filled in; NULL: not set */
	const char *env;
	const char *flag; /* without "--"; NULL: none */
	unsigned users;   /* CONFIG_FOR_… */
	bool reload;      /* SIGHUP applies it; else it takes a restart */
	const char *help;
	int64_t min, max;    /* KEY_INT, KEY_SIZE (bytes), KEY_DURATION (ms) */
	const char *choices; /* KEY_ENUM: "a|b|c" */
};

extern const struct config_key config_keys[];
extern const size_t n_config_keys;

const struct config_key *config_key_find(struct str name);
/* The key that a flag of one of these users sets: --state-dir is two keys. */
const struct config_key *config_key_by_flag(const char *flag, unsigned users);
size_t config_key_index(const struct config_key *k);
/* "a duration such as \"30s\"" */
const char *config_type_text(enum config_type t);
const char *config_type_name(enum config_type t);

/* Is `name` the beginning of keys, as "server" or "server.tls"? Whose? 0: no. */
unsigned config_section_users(struct str name);
/* Keys that an earlier version had: the present name, and what else is different. */
struct config_renamed {
	const char *old, *old_env, *name, *note;
};
const struct config_renamed *config_key_renamed(struct str old); /* NULL: it was never a key */
const struct config_renamed *config_renamed_at(size_t i);        /* NULL: past the last */

/* What was meant by an unknown key inside `section` ("" at the top)? "" when nobody can tell. */
void config_key_hint(struct str section, struct str name, struct buf *ret_hint);

#endif
