/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for the lines of a crontab, which have none. They come from user and command alone, so that
 * a line keeps its name when its time changes, or when lines before it come and go.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cron/crontab_jobs.h"
#include "cli/output/output.h"

#define PROGRAM_SHOWN 40 /* bytes of the program's name */

/* FNV-1a, for names only: what is alike is told by the whole text, not by this. */
static uint64_t mix(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return (hash ^ 0xff) * UINT64_C(0x100000001b3); /* "ab","c" is not "a","bc" */
}

static bool is_assignment(struct str word)
{
	const char *equals = memchr(word.p, '=', word.n);

	return equals && equals > word.p && !memchr(word.p, '/', (size_t)(equals - word.p));
}

/* "backup.sh" of "LANG=C /opt/tools/backup.sh --all". */
static struct str program_of(const char *command)
{
	struct str rest = str_of(command), word = STR("job");
	const char *slash;

	while (str_next(&rest, ' ', &word))
		if (word.n > 0 && !is_assignment(word))
			break;
	while (word.n > 0 && (slash = memchr(word.p, '/', word.n))) {
		word.n -= (size_t)(slash + 1 - word.p);
		word.p = slash + 1;
	}
	return word;
}

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '_' || c == '-';
}

void crontab_name(const char *prefix, const char *user, const char *command, struct buf *out)
{
	struct str program = program_of(command);
	uint64_t hash = mix(mix(UINT64_C(0xcbf29ce484222325), user), command);
	size_t shown = 0;

	buf_add_cstr(out, prefix);
	for (size_t i = 0; i < program.n && shown < PROGRAM_SHOWN; i++)
		if (is_plain(program.p[i])) {
			buf_add_char(out, program.p[i]);
			shown++;
		}
	buf_printf(out, "%s%08x", shown ? "-" : "job-", (unsigned)(hash ^ hash >> 32));
}

void crontab_name_unique(json_t *taken, struct buf *name)
{
	int64_t n = ji(taken, name->p, 0) + 1;

	json_object_set_new(taken, name->p, json_integer(n));
	if (n > 1)
		buf_printf(name, "-%lld", (long long)n);
}
