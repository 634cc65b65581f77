/* SPDX-License-Identifier: Apache-2.0 */
/* version: here, and on the server when one can be reached. */
#include <stdio.h>

#include "base/mem.h"
#include "cli/frame/cmds.h"
#include "cli/output/output.h"
#include "cli/reach/settings.h"

int cmd_version(struct cli *c)
{
	AUTO(json_drop) json_t *status = NULL, *both = NULL;
	AUTO(buf_release) struct buf url = {0};
	bool reached = cli_server(c, &url) == 0 && cli_get(c, "/v1/status", &status) == 0;

	if (wants_machine(c)) {
		both = json_pack("{s:s,s:s?}", "version", REEVE_VERSION, "server",
		    reached ? js(status, "version") : NULL);
		print_json(c, both);
		return EXIT_OK;
	}
	printf("reeve %s\n", REEVE_VERSION);
	if (reached)
		say(stdout, "server %s (%s)", js(status, "version"), client_server(c->client));
	return EXIT_OK;
}
