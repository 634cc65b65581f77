/* SPDX-License-Identifier: Apache-2.0 */
/* From argv to a command's handler, and from its result to an exit code. */
#include "cli/frame/cli.h"
#include "cli/frame/synonyms.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/frame/help.h"
#include "cli/frame/interrupt.h"
#include "cli/frame/written.h"
#include "cli/output/output.h"
#include "cli/reach/last.h"
#include "cli/reach/settings.h"

#define PAGE_FIRST 100
#define PAGE_MOST 1000

void cli_complain(const struct term *t, const struct problem *p)
{
	AUTO(buf_release) struct buf what = {0}, hint = {0};

	text_add_clean(&what, str_of(p->what));
	text_add_clean(&hint, str_of(p->hint));
	fflush(stdout);
	fprintf(stderr, "reeve: %s%s%s\n", term_on(t->err_colour, COLOUR_RED),
	    what.p ? what.p : err_title(p->code), term_off(t->err_colour));
	if (hint.p)
		fprintf(stderr, "  hint: %s\n", hint.p);
}

void cli_note(const struct cli *c, const char *fmt, ...)
{
	AUTO(free_cstr) char *text = NULL;
	va_list ap;

	if (c->quiet)
		return;
	va_start(ap, fmt);
	MUST(vasprintf(&text, fmt, ap) >= 0);
	va_end(ap);
	say(c->notes ? c->notes : stderr, "%s", text);
}

/* The exit code for a handler's result; complains when it is an error. */
static int cli_exit_code(struct cli *c, int result)
{
	bool mirrors = c->command && c->command->flags & COMMAND_MIRRORS;

	if (result >= 0)
		return result;
	if (interrupt_count() > 0 && c->problem.code == ERR_TIMEOUT)
		return 128 + interrupt_signal();
	if (c->problem.code == 0)
		problem_set(&c->problem, result, "%s", err_title(result));
	cli_complain(&c->term, &c->problem);
	if (mirrors && err_exit_code(result) != EXIT_USAGE)
		return EXIT_OURS;
	return err_exit_code(result);
}

struct client *cli_client(struct cli *c)
{
	AUTO(buf_release) struct buf url = {0}, token = {0};
	struct client_options o = {.is_tty = c->term.err_tty && !c->quiet};

	if (c->client)
		return c->client;
	if (cli_server(c, &url) < 0 || cli_token(c, url.p, &token) < 0 ||
	    cli_certificates(c, url.p, &o) < 0 || cli_patience(c, &o.patience_ms) < 0)
		return NULL;
	o.server = url.p;
	o.token = token.p;
	c->client = client_new(&o, &c->problem);
	return c->client;
}

static int parse_reply(struct cli *c, const struct reply *reply, json_t **ret_json)
{
	json_error_t error;

	*ret_json = json_loadb(reply->body.p ? reply->body.p : "", reply->body.n,
	    JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
	if (*ret_json)
		return 0;
	if (reply->body.n == 0) {
		*ret_json = json_object();
		return 0;
	}
	problem_set(&c->problem, ERR_PROTOCOL, "the server's reply is not JSON: %s", error.text);
	return problem_hint(&c->problem, "is %s a Reeve server?", client_server(c->client));
}

static int request(struct cli *c, const char *method, const char *path, json_t *body,
    const char *if_match, char ret_etag[ETAG_MAX], json_t **ret_json)
{
	AUTO(free_cstr) char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
	AUTO(reply_release) struct reply reply = {0};
	struct request q = {
	    .method = method, .path = path, .body = str_of(text), .if_match = if_match};
	int r;

	if (!cli_client(c))
		return c->problem.code;
	r = client_do(c->client, &q, &reply, &c->problem);
	if (r < 0)
		return r;
	if (ret_etag)
		memcpy(ret_etag, reply.etag, ETAG_MAX);
	return parse_reply(c, &reply, ret_json);
}

int cli_call(struct cli *c, const char *method, const char *path, json_t *body, json_t **ret_json)
{
	return request(c, method, path, body, NULL, NULL, ret_json);
}

int cli_get_tagged(struct cli *c, const char *path, char ret_etag[ETAG_MAX], json_t **ret_json)
{
	return request(c, "GET", path, NULL, NULL, ret_etag, ret_json);
}

int cli_patch(struct cli *c, const char *path, json_t *body, const char *etag, json_t **ret_json)
{
	return request(c, "PATCH", path, body, *etag ? etag : NULL, NULL, ret_json);
}

int cli_get(struct cli *c, const char *path, json_t **ret_json)
{
	return cli_call(c, "GET", path, NULL, ret_json);
}

static int get_page(
    struct cli *c, const char *path, const char *cursor, size_t want, json_t **ret_page)
{
	AUTO(buf_release) struct buf url = {0};
	char limit[24];

	buf_add_cstr(&url, path);
	snprintf(limit, sizeof limit, "%zu", want);
	url_add(&url, "limit", limit);
	if (cursor)
		url_add(&url, "cursor", cursor);
	return cli_get(c, url.p, ret_page);
}

/* The first page is short, so that something can be shown at once. */
static size_t page_size(size_t limit, size_t had)
{
	size_t most = had ? PAGE_MOST : PAGE_FIRST;

	return limit && limit - had < most ? limit - had : most;
}

int cli_each_page(struct cli *c, const char *path, size_t limit, cli_page_fn *fn, void *arg)
{
	AUTO(free_cstr) char *cursor = NULL;
	size_t had = 0;

	do {
		AUTO(json_drop) json_t *page = NULL;
		int r = get_page(c, path, cursor, page_size(limit, had), &page);
		json_t *items = json_object_get(page, "items");
		const char *next = json_string_value(json_object_get(page, "next"));

		if (r < 0)
			return r;
		if (!json_is_array(items))
			return problem_set(
			    &c->problem, ERR_PROTOCOL, "the server's list has no items");
		had += json_array_size(items);
		free(cursor);
		cursor = next ? xstrdup(next) : NULL;
		if (!fn(c, items, cursor && limit && had >= limit ? cursor : NULL, arg))
			return 0;
	} while (cursor && (limit == 0 || had < limit));
	return 0;
}

struct gathered {
	json_t *items;
	char *next;
};

static bool gather(struct cli *c, json_t *items, const char *next, void *arg)
{
	struct gathered *g = arg;

	json_array_extend(g->items, items);
	g->next = next ? xstrdup(next) : NULL;
	return true;
}

int cli_get_list(struct cli *c, const char *path, size_t limit, json_t **ret_list)
{
	AUTO(json_drop) json_t *items = json_array();
	struct gathered g = {items, NULL};
	int r = cli_each_page(c, path, limit, gather, &g);

	if (r == 0)
		*ret_list = json_pack("{s:O,s:s?}", "items", items, "next", g.next);
	free(g.next);
	return r;
}

static int set_format(struct cli *c)
{
	const char *names[8] = {"table", "wide", "json", "jsonl", "yaml"}, *given, *near;
	enum cli_format formats[8] = {
	    FORMAT_TABLE, FORMAT_WIDE, FORMAT_JSON, FORMAT_JSONL, FORMAT_YAML};
	size_t n = 5;

	if (c->command->flags & COMMAND_EPOCH)
		names[n] = "epoch", formats[n++] = FORMAT_EPOCH;
	if (c->command->flags & COMMAND_DRAWS) {
		names[n] = "dot", formats[n++] = FORMAT_DOT;
		names[n] = "svg", formats[n++] = FORMAT_SVG;
	}

	if (cli_setting(c, "output", &given) < 0) {
		if (!(c->command->flags & COMMAND_ANYHOW))
			return c->problem.code;
		c->problem = (struct problem){0};
	}
	for (size_t i = 0; given && i < n; i++)
		if (!strcmp(given, names[i])) {
			c->format = formats[i];
			return 0;
		}
	if (!given)
		return 0;
	problem_set(&c->problem, ERR_INVALID, "there is no output format \"%.32s\"", given);
	near = str_nearest(str_of(given), names, n);
	return near ? problem_hint(&c->problem, "did you mean %s?", near)
	            : problem_hint(&c->problem, "table, wide, json, jsonl or yaml");
}

/* A script's variable that is not set is no name; what a command is given may be empty. */
static int check_empty_args(struct cli *c)
{
	const struct command *cmd = c->command;
	bool gives = cmd->args && strstr(cmd->args, "COMMAND");
	size_t n = gives && c->options.n_args ? 1 : c->options.n_args;

	for (size_t i = 0; i < n && !(cmd->flags & COMMAND_HIDDEN); i++)
		if (!*c->options.args[i]) {
			problem_set(&c->problem, ERR_INVALID,
			    "an argument is empty: reeve %s takes %s", cmd->path, cmd->args);
			return problem_hint(&c->problem, "has a variable of a script no value?");
		}
	return 0;
}

static int check_args(struct cli *c)
{
	const struct command *cmd = c->command;

	if (cmd->flags & COMMAND_NO_ARGS && c->options.n_args > 0) {
		problem_set(&c->problem, ERR_INVALID, "reeve %s takes no argument: \"%.64s\"",
		    cmd->path, c->options.args[0]);
		return problem_hint(&c->problem, "`reeve %s --help` says more", cmd->path);
	}
	if (cmd->flags & COMMAND_NEEDS_ARG && c->options.n_args == 0) {
		problem_set(&c->problem, ERR_INVALID, "reeve %s needs an argument: %s", cmd->path,
		    cmd->args);
		return problem_hint(&c->problem, "`reeve %s --help` shows examples", cmd->path);
	}
	return check_empty_args(c);
}

static int run_client_command(struct cli *c, int argc, char **argv)
{
	AUTO(buf_release) struct buf program = {0};
	enum options_mode mode =
	    c->command->flags & COMMAND_ARGV ? OPTIONS_FIRST : OPTIONS_ANYWHERE;
	bool negated;
	int r;

	buf_printf(&program, "reeve %s", c->command->path);
	c->options.program = program.p;
	c->options.meant = synonym_of_option;
	for (size_t i = 0; i < COMMAND_TABLES_MAX && c->command->options[i]; i++)
		options_add_table(&c->options, c->command->options[i]);
	r = options_parse(&c->options, mode, argc, argv, &c->problem);
	term_init(&c->term, options_switch(&c->options, "color", true));
	c->quiet = options_switch(&c->options, "quiet", false);
	if (r < 0)
		return r;
	if (options_switch(&c->options, "help", false)) {
		help_command(c->command, &c->term);
		return EXIT_OK;
	}
	if (options_find(&c->options, STR("output"), &negated) && set_format(c) < 0)
		return c->problem.code;
	r = check_args(c);
	return r < 0 ? r : c->command->run(c);
}

static bool asks_help(int argc, char **argv)
{
	for (int i = 0; i < argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return true;
	return false;
}

static int run_shell(struct cli *c, int argc, char **argv)
{
	if (asks_help(argc, argv) || options_switch(&c->options, "help", false)) {
		help_command(c->command, &c->term);
		return EXIT_OK;
	}
	if (options_given(&c->options, "server")) {
		problem_set(&c->problem, ERR_INVALID, "reeve %s does not talk to another server",
		    c->command->path);
		return problem_hint(&c->problem, "leave out --server");
	}
	return c->command->shell(argc, argv);
}

static int dispatch(struct cli *c, int argc, char **argv)
{
	const char *words[2];
	size_t n = 0, used = 0;

	while (n < 2 && (int)n < argc && argv[n][0] != '-') {
		words[n] = argv[n];
		n++;
	}
	if (n == 0) {
		bool asked = options_switch(&c->options, "help", false);

		if (options_switch(&c->options, "version", false)) {
			puts("reeve " REEVE_VERSION);
			return EXIT_OK;
		}
		help_overview(&c->term, asked ? stdout : stderr);
		return asked ? EXIT_OK : EXIT_USAGE;
	}
	c->command = command_find(words, n, &used);
	if (!c->command && command_is_family(words[0]) && n == 1) {
		bool asked = asks_help(argc, argv) || options_switch(&c->options, "help", false);

		help_family(words[0], &c->term, asked ? stdout : stderr);
		return asked ? EXIT_OK : EXIT_USAGE;
	}
	if (!c->command)
		return command_unknown(words, n, &c->problem);
	argc -= (int)used;
	argv += used;
	return c->command->shell ? run_shell(c, argc, argv) : run_client_command(c, argc, argv);
}

/* Told here, for every command. Nobody needs a word about a reader that has left (EPIPE), unless
 * the id of something that was submitted is lost with that. */
static int end_output(struct cli *c, int code, bool has_complained)
{
	bool mirrors = c->command && c->command->flags & COMMAND_MIRRORS;
	int error = written_error();
	const char *made = error ? last_made() : NULL;
	struct problem p = {0};

	if (!error)
		return code;
	problem_set(&p, ERR_IO, "standard output cannot be written: %s%s%s", strerror(error),
	    made ? "; " : "", made ? made : "");
	if (made || (error != EPIPE && !has_complained))
		cli_complain(&c->term, &p);
	if (code != EXIT_OK)
		return code;
	return error == EPIPE ? EXIT_UNREAD : mirrors ? EXIT_OURS : EXIT_FAILED;
}

int cli_main(int argc, char **argv, const struct command *extra, size_t n_extra)
{
	struct cli c = {0};
	int used = 0, r;

	written_keep();
	commands_add(extra, n_extra);
	options_add_table(&c.options, global_options);
	c.options.program = "reeve";
	r = options_parse_leading(&c.options, argc - 1, argv + 1, &used, &c.problem);
	term_init(&c.term, options_switch(&c.options, "color", true));
	if (r == 0)
		r = dispatch(&c, argc - 1 - used, argv + 1 + used);
	r = end_output(&c, cli_exit_code(&c, r), r < 0);
	client_free(c.client);
	config_free(c.config);
	options_release(&c.options);
	return r;
}
