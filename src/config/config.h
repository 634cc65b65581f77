/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration of server, worker and command line: one table of keys (keys.c), filled from
 * flags, the environment REEVE_*, conf.d, the file and defaults, in this precedence. Every value
 * knows where it came from, and every mistake is reported with its place and a hint.
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "config/keys.h"

#define CONFIG_FILE_MAX (1u << 20)
#define CONFIG_DEPTH_MAX 32
#define CONFIG_CONF_D_MAX 256 /* files in conf.d */

struct config;

struct config_flag {
	const char *key;  /* "server.listen" */
	const char *text; /* lists: comma-separated, or the same key several times */
};

/* Zero-initialised, it means: as root, with nothing given. config_sources_init() asks the world. */
struct config_sources {
	const char *file;               /* --config; NULL: $REEVE_CONFIG, else the usual places */
	struct str text;                /* instead of any file, if its pointer is set */
	const char *const *environment; /* "NAME=value" …, NULL at the end; NULL: none */
	const struct config_flag *flags;
	size_t n_flags;
	unsigned users;      /* CONFIG_FOR_…: whose rules to check; 0: everybody's.
	                        Mistakes in keys that only others use are warnings */
	uid_t uid;           /* 0: /etc first, state under /var/lib */
	const char *etc_dir; /* NULL: /etc/reeve */
};

void config_sources_init(struct config_sources *ret_sources, unsigned users);

/*
 * Always sets *ret (free it even after a failure): it holds every problem found. Returns 0 when
 * none is an error (there may be warnings), else the first error, which is in *ret_problem too.
 */
int config_load(const struct config_sources *src, struct config **ret, struct problem *ret_problem);
void config_free(struct config *c);

struct config_problem {
	bool is_warning;
	const char *place; /* file, variable or flag */
	int line;          /* 0: none */
	const char *what;
	const char *hint; /* NULL: none */
};
size_t config_problem_count(const struct config *c);
const struct config_problem *config_problem_at(const struct config *c, size_t i);
/* "reeve.json:12: unknown key …; did you mean …?" without a newline */
void config_problem_write(const struct config_problem *p, struct buf *b);

/* The main file that was read, or NULL. */
const char *config_file(const struct config *c);

/*
 * Values by key. The key must exist and be of a fitting type: anything else is a bug and stops
 * the process. Returned memory lives as long as the config.
 */
bool config_is_set(const struct config *c, const char *key);     /* by anyone, the default too */
bool config_is_given(const struct config *c, const char *key);   /* by anyone but the default */
const char *config_str(const struct config *c, const char *key); /* NULL: not set */
int64_t config_int(const struct config *c, const char *key);     /* numbers, sizes, modes */
bool config_bool(const struct config *c, const char *key);
/* 0 when it is not set */
int64_t config_duration_ms(const struct config *c, const char *key);
int config_enum(const struct config *c, const char *key); /* index among the key's choices */
/* NULL follows the last item; never NULL itself. A map is a sorted list of "key=value". */
size_t config_list(const struct config *c, const char *key, const char *const **ret_items);
/* JSON text of an object key (worker.plugins, worker.labels); "{}" when not set. */
void config_json(const struct config *c, const char *key, struct buf *b);
/* A list or map as "item\n" lines, the shape of model/lines.h; maps as "key=value", sorted. */
void config_lines(const struct config *c, const char *key, struct buf *b);
/* "default", "REEVE_LOG_LEVEL", "--listen", "/etc/reeve/reeve.json:12"; "" when not set */
const char *config_origin(const struct config *c, const char *key);

/*
 * A token: the text of `key`, or the contents of the file that `<key>_file` names, whichever was
 * set with the higher precedence. Empty when neither is, or when the file is the default one and
 * may not be read. The file is read anew at each call.
 */
int config_secret(
    const struct config *c, const char *key, struct buf *ret_secret, struct problem *ret_problem);
/* Did anyone say what the token is, or where? */
bool config_secret_is_given(const struct config *c, const char *key);

/* worker.plugins, taken apart and checked. */
struct config_plugin {
	const char *name;
	const char *const *argv; /* NULL at the end */
	size_t argc;
	bool is_persistent;     /* else a process per task */
	int processes;          /* persistent: at most so many; 0: the worker decides */
	int recycle_after;      /* persistent: tasks until a process is replaced; 0: never */
	int64_t recycle_memory; /* persistent: bytes beyond which one is replaced; 0: never */
	const char *const *env; /* "NAME=value" …, NULL at the end */
	size_t n_env;
};
size_t config_plugin_count(const struct config *c);
const struct config_plugin *config_plugin_at(const struct config *c, size_t i);

/* Did a reload change this key? */
bool config_differs(const struct config *a, const struct config *b, const char *key);

/* Writing (show.c). Secrets are shown as (set), passwords inside URLs as ***. */
void config_write_value(const struct config *c, const char *key, struct buf *b);
void config_show(const struct config *c, bool origin, struct buf *b);
void config_show_json(const struct config *c, struct buf *b);
/* The reference tables of docs/CONFIGURATION.md, Markdown. */
void config_write_reference(struct buf *b);

/* "127.0.0.1:7400", "[::1]:0", "localhost:1": is the host part a loopback one? */
bool config_address_is_loopback(const char *address);

#endif
