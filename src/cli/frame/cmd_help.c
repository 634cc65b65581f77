/* SPDX-License-Identifier: Apache-2.0 */
/* help, and man pages. */
#include <stdio.h>

#include "cli/frame/cmds.h"
#include "cli/frame/help.h"

int cmd_help(struct cli *c)
{
	size_t used = 0, n = c->options.n_args;
	const struct command *cmd;

	if (n == 0) {
		help_overview(&c->term, stdout);
		return EXIT_OK;
	}
	if (n == 1 && command_is_family(c->options.args[0])) {
		/* "worker" is a command and a family: show both. */
		cmd = command_find(c->options.args, 1, &used);
		if (cmd)
			help_command(cmd, &c->term);
		help_family(c->options.args[0], &c->term, stdout);
		return EXIT_OK;
	}
	cmd = command_find(c->options.args, n > 2 ? 2 : n, &used);
	if (!cmd)
		return command_unknown(c->options.args, n, &c->problem);
	help_command(cmd, &c->term);
	return EXIT_OK;
}

int cmd_gen_man(struct cli *c)
{
	return man_write(c->options.args[0], &c->problem);
}
