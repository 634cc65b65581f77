/* SPDX-License-Identifier: Apache-2.0 */
/* audit verify: by the server; or of a file, which is the server's own code to read. */
#include <stdio.h>

#include "base/mem.h"
#include "cli/frame/cmds.h"
#include "cli/output/output.h"

#define SHELL "__audit-store"

static int verify_file(struct cli *c, const char *store, const char *expect)
{
	const char *name = SHELL;
	size_t used = 0;
	const struct command *cmd = command_find(&name, 1, &used);
	char *argv[6] = {"--store", (char *)store};
	int n = 2;

	if (!cmd)
		return problem_set(&c->problem, ERR_INTERNAL, "this reeve cannot read stores");
	if (expect) {
		argv[n++] = "--expect";
		argv[n++] = (char *)expect;
	}
	if (wants_machine(c)) /* JSON is YAML, too */
		argv[n++] = "--json";
	return cmd->shell(n, argv);
}

static void show(const json_t *found)
{
	const json_t *fault = json_object_get(found, "fault");

	if (jb(found, "fits") && ji(found, "checked", 0))
		say(stdout, "the audit trail fits: %lld events, from %lld on",
		    (long long)ji(found, "checked", 0), (long long)ji(found, "first", 0));
	else if (jb(found, "fits"))
		say(stdout, "the audit trail fits: it holds no chained events");
	else
		say(stdout, "the audit trail does not fit: %s", js(fault, "detail"));
	if (ji(found, "unchained", 0))
		say(stdout, "%lld older events are from before there was a chain, and not covered",
		    (long long)ji(found, "unchained", 0));
	if (jhas(found, "head"))
		say(stdout, "head %s", js(found, "head"));
}

int cmd_audit_verify(struct cli *c)
{
	const char *store = options_get(&c->options, "store");
	const char *expect = options_get(&c->options, "expect");
	AUTO(buf_release) struct buf path = {0};
	AUTO(json_drop) json_t *found = NULL;
	int r;

	if (store)
		return verify_file(c, store, expect);
	buf_add_cstr(&path, "/v1/audit/verify");
	if (expect)
		url_add(&path, "expect", expect);
	r = cli_get(c, path.p, &found);
	if (r < 0)
		return r;
	if (wants_machine(c))
		print_json(c, found);
	else
		show(found);
	return jb(found, "fits") ? EXIT_OK : EXIT_FAILED;
}
