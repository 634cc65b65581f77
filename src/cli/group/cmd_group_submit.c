/* SPDX-License-Identifier: Apache-2.0 */
/* group submit: a file, looked at here before anything is sent; and what becomes of the group. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/frame/interrupt.h"
#include "cli/group/group.h"
#include "cli/output/output.h"
#include "cli/reach/last.h"
#include "cli/tasks/work.h"
#include "graph/limits.h"

/* What the line says in the file's place. */
static int said_of(struct cli *c, bool has_queue, json_t *said)
{
	static const char *const texts[] = {"name", "policy", "queue", "series"};

	for (size_t i = 0; i < N_OF(texts); i++) {
		const char *value = options_get(&c->options, texts[i]);

		if (!strcmp(texts[i], "queue") && has_queue &&
		    !options_given(&c->options, texts[i]))
			continue; /* the environment says only what nobody else does */
		if (value && json_object_set_new(said, texts[i], json_string(value)) < 0)
			return problem_set(
			    &c->problem, ERR_INVALID, "--%s is not valid UTF-8", texts[i]);
	}
	if (options_switch(&c->options, "reuse", false))
		json_object_set_new(said, "reuse", json_true());
	return 0;
}

static void warn_of_lost(struct cli *c, const struct group_said *file)
{
	if (file->lost.n && !options_given(&c->options, "cwd"))
		cli_note(c,
		    "reeve: %s is looked for in /\n"
		    "  hint: -C DIR names the directory of the jobs; -C . is this one",
		    file->lost.p);
}

static int directory_of(struct cli *c, json_t *where)
{
	const char *given = options_get(&c->options, "cwd");

	return given ? directory_put(c, given, where) : 0;
}

static int send(struct cli *c, struct str body, json_t **ret_group)
{
	AUTO(reply_release) struct reply reply = {0};
	struct request q = {.method = "POST",
	    .path = "/v1/groups",
	    .content_type = "application/yaml",
	    .body = body};
	int r = cli_client(c) ? client_do(c->client, &q, &reply, &c->problem) : c->problem.code;

	if (r < 0)
		return r;
	*ret_group = json_loadb(reply.body.p ? reply.body.p : "", reply.body.n, 0, NULL);
	return is_id(js(*ret_group, "id"))
	           ? 0
	           : problem_set(&c->problem, ERR_PROTOCOL, "the server's reply is no group");
}

int group_check_wait(struct cli *c)
{
	int64_t timeout_ms;

	if (options_switch(&c->options, "wait", false) &&
	    options_switch(&c->options, "watch", false))
		return problem_set(
		    &c->problem, ERR_INVALID, "--wait and --watch exclude each other");
	return options_duration(&c->options, "wait-timeout", &timeout_ms, &c->problem);
}

int group_submitted(struct cli *c, json_t *group)
{
	const char *id = js(group, "id");
	int64_t timeout_ms = -1;

	last_save(LAST_GROUP, id);
	left_out_tell(c, group, stderr);
	if (wants_machine(c))
		print_json(c, group);
	else
		say(stdout, "%s", id);
	fflush(stdout);
	if (options_switch(&c->options, "watch", false))
		return group_watch(c, id);
	if (!options_switch(&c->options, "wait", false))
		return EXIT_OK;
	if (options_duration(&c->options, "wait-timeout", &timeout_ms, &c->problem) < 0)
		return c->problem.code;
	return waited(c, group_wait(c, id, timeout_ms));
}

int cmd_group_submit(struct cli *c)
{
	AUTO(buf_release) struct buf text = {0}, body = {0};
	AUTO(json_drop) json_t *said = json_object(), *where = json_object(), *group = NULL;
	AUTO(group_said_release) struct group_said file = {0};
	int r;

	if (c->options.n_args > 1)
		return problem_set(&c->problem, ERR_INVALID, "reeve group submit takes one FILE");
	r = group_check_wait(c);
	if (r == 0)
		r = input_read(c, c->options.args[0], PLAN_FILE_MAX, &text);
	if (r == 0)
		r = group_file_check(buf_str(&text), &file, &c->problem);
	if (r == 0)
		r = said_of(c, file.has_queue, said);
	if (r == 0)
		r = directory_of(c, where);
	if (r == 0)
		r = group_body(buf_str(&text), said,
		    json_string_value(json_object_get(where, "cwd")), &body, &c->problem);
	if (r == 0)
		warn_of_lost(c, &file);
	if (r == 0)
		r = send(c, buf_str(&body), &group);
	return r < 0 ? r : group_submitted(c, group);
}
