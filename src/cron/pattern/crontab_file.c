/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of crontab files: comments, settings, and jobs with their command. */
#include <ctype.h>
#include <string.h>

#include "cron/pattern/parse.h"

static struct str trim(struct str s)
{
	while (s.n && isspace((unsigned char)s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n && isspace((unsigned char)s.p[s.n - 1]))
		s.n--;
	return s;
}

static struct str unquote(struct str s)
{
	if (s.n >= 2 && (s.p[0] == '"' || s.p[0] == '\'') && s.p[s.n - 1] == s.p[0])
		return (struct str){s.p + 1, s.n - 2};
	return s;
}

/* NAME=value, with blanks around the sign allowed. A zone before a job is no setting: five fields
 * follow it. */
static bool split_setting(struct str line, struct cron_line *ret)
{
	const char *sign = memchr(line.p, '=', line.n);
	struct str name, value;

	if (!sign || isdigit((unsigned char)line.p[0]))
		return false;
	name = unquote(trim((struct str){line.p, (size_t)(sign - line.p)}));
	value = trim((struct str){sign + 1, line.n - (size_t)(sign + 1 - line.p)});
	for (size_t i = 0; i < name.n; i++)
		if (!isalnum((unsigned char)name.p[i]) && name.p[i] != '_')
			return false;
	if (name.n == 0)
		return false;
	if ((str_is(name, "CRON_TZ") || str_is(name, "TZ")) && memchr(value.p, ' ', value.n))
		return false;
	*ret = (struct cron_line){.kind = CRON_LINE_SETTING, .name = name, .value = unquote(value)};
	return true;
}

static bool is_zone(struct str word)
{
	return str_starts(word, "CRON_TZ=") || str_starts(word, "TZ=");
}

/* The words that are the schedule: a zone if there is one, then five fields or one shorthand. */
static bool take_schedule(struct scan *s, struct str *ret_schedule)
{
	size_t begin = s->at, words = 5;
	struct str word = {0};

	for (size_t i = 0; i < words; i++) {
		scan_spaces(s);
		word = scan_word(s);
		if (i == 0 && word.n && word.p[0] == '@')
			words = 1;
		if (i == 0 && is_zone(word)) {
			scan_spaces(s);
			words = scan_peek(s) == '@' ? 2 : 6;
		}
	}
	*ret_schedule = (struct str){s->all.p + begin, s->at - begin};
	return word.n > 0;
}

int cron_line_split(struct str line, bool has_user, struct cron_line *ret_line, struct problem *p)
{
	struct scan s = {.all = trim(line), .p = p};
	struct cron_line l = {.kind = CRON_LINE_EMPTY};
	int rc;

	if ((rc = scan_check(&s, "the crontab line")))
		return rc;
	if (s.all.n == 0 || s.all.p[0] == '#' || split_setting(s.all, &l)) {
		*ret_line = l;
		return ERR_OK;
	}
	l.kind = CRON_LINE_JOB;
	if (!take_schedule(&s, &l.schedule)) {
		scan_bad(&s, s.at, "the line ends before its five fields do");
		problem_hint(p, "minute, hour, day of the month, month, day of the week, command");
		return ERR_INVALID;
	}
	scan_spaces(&s);
	if (has_user) {
		l.user = scan_word(&s);
		scan_spaces(&s);
	}
	l.command = (struct str){s.all.p + s.at, s.all.n - s.at};
	if (l.command.n == 0) {
		scan_bad(&s, s.at, "there is no command");
		problem_hint(p, "%s",
		    has_user ? "a system crontab has a user, then a command, after the times"
		             : "a command follows the times");
		return ERR_INVALID;
	}
	*ret_line = l;
	return ERR_OK;
}

bool cron_line_command(struct str command, struct buf *ret_command, struct buf *ret_input)
{
	bool in_input = false;

	for (size_t i = 0; i < command.n; i++) {
		char c = command.p[i];
		struct buf *out = in_input ? ret_input : ret_command;

		if (c == '\\' && i + 1 < command.n && command.p[i + 1] == '%') {
			buf_add_char(out, '%');
			i++;
		} else if (c != '%') {
			buf_add_char(out, c);
		} else if (in_input) {
			buf_add_char(out, '\n');
		} else {
			in_input = true;
		}
	}
	if (in_input)
		buf_add_char(ret_input, '\n');
	return in_input;
}
