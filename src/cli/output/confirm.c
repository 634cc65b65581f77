/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to whoever sits at the terminal, before something is lost. */
#include <stdarg.h>
#include <stdio.h>

#include "cli/output/output.h"

bool confirm(const struct cli *c, const char *fmt, ...)
{
	char answer[16] = "";
	va_list ap;

	if (!c->term.in_tty || !c->term.err_tty)
		return true;
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputs(" [y/N] ", stderr);
	if (!fgets(answer, sizeof answer, stdin))
		return false;
	return answer[0] == 'y' || answer[0] == 'Y';
}

int not_confirmed(const struct cli *c)
{
	cli_note(c, "nothing was changed");
	return EXIT_FAILED;
}
