/* SPDX-License-Identifier: Apache-2.0 */
/* `reeve routes render`: from the state of routes to a proxy's configuration, and its reload. */
#ifndef CLI_ROUTES_ROUTES_H
#define CLI_ROUTES_ROUTES_H

#include "cli/frame/cli.h"
#include "cli/reach/sse.h"
#include "cli/routes/template.h"

extern const struct command_table routes_commands;

int cmd_routes_render(struct cli *c);

#define ROUTES_STATE_MAX (256u << 20) /* bytes */
#define ROUTES_PORTS_MAX 64

/*
 * The state as templates see it: checked, services by name, instances by index, each instance with
 * `routed` and its first `port`, each service with the list `routed`.
 */
int routes_state_read(struct str text, json_t **ret_state, struct problem *p);

/* --- the server's state --- */

/* All of it, as text. */
int routes_server_get(struct cli *c, struct buf *ret_text);
/* What a stream has told so far. Zeroed but for `c` it has not begun. */
struct routes_follow {
	struct cli *c;
	struct sse sse;
	struct call *call; /* NULL: not connected */
	json_t *services;  /* by name */
	json_t *pending;   /* a long service, of which more is to come */
	int64_t tag, retry_at_ms;
	int tries, result;
	bool is_synced;  /* all was told */
	bool is_changed; /* the caller's to take back */
};
/* Takes what comes, for so long at most. False: it is over, and `result` says how. */
bool routes_follow_step(struct routes_follow *f, int64_t wait_ms);
void routes_follow_state(const struct routes_follow *f, struct buf *ret_text);
void routes_follow_release(struct routes_follow *f);

/* --- commands without a shell --- */

#define COMMAND_WORDS_MAX 64

/* ["haproxy","-c"] as JSON, or words with blanks between them. */
struct argv {
	char *v[COMMAND_WORDS_MAX + 1];
	size_t n; /* 0: none */
};
int argv_parse(const char *option, const char *text, struct argv *ret_argv, struct problem *p);
void argv_release(struct argv *a);
/* Runs it to its end, with {} replaced by the path. What it said is part of the problem. */
int argv_run(const struct argv *a, const char *path, int64_t timeout_ms, struct problem *p);

/* --- the file --- */

struct target_file {
	const char *path; /* NULL: standard output */
	struct argv check, exec;
	const char *pid_file; /* NULL: nobody gets a signal */
	int signal;
	int64_t timeout_ms;
};
enum write_result { WRITE_SAME, WRITE_DONE, WRITE_RELOADED };
/*
 * Writes it whole or not at all, and only if it is another text: checked before it takes its
 * place; then the proxy is reloaded. A reload that failed or was cut off is made up for by the next
 * call, since a mark beside the file says so.
 */
int target_write(
    const struct target_file *t, struct str text, enum write_result *ret_result, struct problem *p);

#endif
