/* SPDX-License-Identifier: Apache-2.0 */
/* What every command is handed: the parsed line, the terminal, the way to the server. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <jansson.h>
#include <stdio.h>

#include "cli/frame/command.h"
#include "cli/output/term.h"
#include "cli/reach/client.h"

struct config;

enum cli_exit {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_LEFT_OUT = 3, /* a group is complete, without a package that was named */
	EXIT_TIMED_OUT = 124,
	EXIT_OURS = 125,
	EXIT_INTERRUPTED = 130,
	EXIT_UNREAD = 141, /* nobody reads what we write: as SIGPIPE would have it */
};

enum cli_format {
	FORMAT_TABLE,
	FORMAT_WIDE,
	FORMAT_JSON,
	FORMAT_JSONL,
	FORMAT_YAML,
	FORMAT_EPOCH,
	FORMAT_DOT,
	FORMAT_SVG,
};

struct cli {
	const struct command *command;
	struct options options;
	struct term term;
	enum cli_format format;
	bool quiet;
	FILE *notes;           /* remarks go here; NULL: stderr */
	struct client *client; /* made by the first request */
	struct config *config; /* read at the first need: settings.h */
	struct problem problem;
};

/* The whole program; `extra` are the commands of other shells. Returns the exit code. */
int cli_main(int argc, char **argv, const struct command *extra, size_t n_extra);

/* "reeve: what" and "  hint: …" on stderr. */
void cli_complain(const struct term *t, const struct problem *p);
/* A remark for people on stderr; silent with --quiet. */
void cli_note(const struct cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The client, made at the first need. NULL with the problem set when no server can be chosen. */
struct client *cli_client(struct cli *c);
/* One request with JSON both ways (`body` may be NULL and is not taken). */
int cli_call(struct cli *c, const char *method, const char *path, json_t *body, json_t **ret_json);
int cli_get(struct cli *c, const char *path, json_t **ret_json);
/* A GET that keeps the version it read, and a change of just that version ("": of any):
   ERR_PRECONDITION when somebody else was faster. */
int cli_get_tagged(struct cli *c, const char *path, char ret_etag[ETAG_MAX], json_t **ret_json);
int cli_patch(struct cli *c, const char *path, json_t *body, const char *etag, json_t **ret_json);
/*
 * A list page by page, up to `limit` items (0: all). `next` with the last page only: there are more
 * than were wanted. False: no further page is needed.
 */
typedef bool cli_page_fn(struct cli *c, json_t *items, const char *next, void *arg);
int cli_each_page(struct cli *c, const char *path, size_t limit, cli_page_fn *fn, void *arg);
/* All pages of a list, up to `limit` items (0: all): {"items":[…],"next":…}. */
int cli_get_list(struct cli *c, const char *path, size_t limit, json_t **ret_list);

/* Free a json_t when the scope ends: AUTO(json_drop) json_t *j = NULL; */
static inline void json_drop(json_t **j)
{
	json_decref(*j);
}

#endif
