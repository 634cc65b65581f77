/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task's action: a tree of what to do, as in Diego. Its leaves run programs and move files, its
 * inner nodes say in which order, for how long, and what a failure means. docs/ACTIONS.md is
 * written for users; wire/json/action.h makes such a tree from JSON.
 */
#ifndef MODEL_ACTION_H
#define MODEL_ACTION_H

#include "base/str.h"

#define ACTION_DEPTH_MAX 32
#define ACTION_NODES_MAX 1000
#define ACTION_PATH_MAX 4096 /* bytes of a file's name, and of a URL */
#define ACTION_TEXT_MAX 1024 /* bytes of a message */
#define ACTION_BYTES_DEFAULT (4LL << 30)
#define ACTION_CONNECT_DEFAULT_MS 30000
#define ACTION_IDLE_DEFAULT_MS 60000
#define ACTION_MODE_UNSET (-1)
#define ACTION_DIGEST_MAX 32

enum action_kind {
	ACTION_RUN,
	ACTION_SERIAL,
	ACTION_PARALLEL,
	ACTION_CODEPENDENT,
	ACTION_WITH_SIDECARS,
	ACTION_TIMEOUT,
	ACTION_TRY,
	ACTION_EMIT_PROGRESS,
	ACTION_DOWNLOAD,
	ACTION_UPLOAD,
	N_ACTION_KINDS
};

enum action_digest { DIGEST_NONE, DIGEST_MD5, DIGEST_SHA1, DIGEST_SHA256, N_ACTION_DIGESTS };

struct action_variable {
	struct str name, value;
};

struct action_run {
	const char *const *argv; /* argv[0] is looked for in PATH, unless it has a slash */
	size_t n_argv;
	const char *dir; /* NULL: the task's */
	const struct action_variable *env;
	size_t n_env;
};

struct action_progress { /* each may be NULL */
	struct str start, success, failure_prefix;
};

struct action_transfer {
	struct str from, to; /* the remote one is a URL: file, http or https */
	struct str artifact; /* what messages call it; NULL: there are none */
	int32_t mode;        /* download: of the file; ACTION_MODE_UNSET: as the umask has it */
	int64_t max_bytes;
	int64_t connect_ms, idle_ms;
	enum action_digest digest;
	unsigned char checksum[ACTION_DIGEST_MAX];
};

struct action_sidecars { /* they lie in `inner`: setup, if there is one, main, the sidecars */
	struct action *setup, *main;
	struct action **sidecars;
	size_t n_sidecars;
};

struct action {
	enum action_kind kind;
	struct str log_source; /* NULL: that of the action around it */
	struct action **inner; /* the actions in it: none for leaves, one for the wrappers */
	size_t n_inner;
	union {
		struct action_run run;
		struct action_progress progress;
		struct action_transfer transfer;
		struct action_sidecars sidecars;
		int64_t timeout_ms;
	};
};

#endif
