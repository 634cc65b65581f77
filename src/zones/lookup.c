/* SPDX-License-Identifier: Apache-2.0 */
/* What a name means: a file, an offset, or a POSIX TZ string. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "zones/internal.h"

int zone_file_load(
    const char *path, struct cron_zone **ret_zone, struct file_mark *ret_mark, struct problem *p)
{
	AUTO(buf_release) struct buf bytes = {0};
	struct file_mark mark = {0};
	int rc = file_read(path, &bytes, &mark, p);

	if (rc == 0)
		rc = cron_zone_tzif(bytes.p ? bytes.p : "", bytes.n, ret_zone, p);
	if (rc < 0)
		return rc;
	*ret_mark = mark;
	return 0;
}

/* Without the file the local time is UTC, as everybody has agreed. */
static int load_local(
    struct zones *z, struct entry *e, struct cron_zone **ret_zone, struct problem *p)
{
	int rc;

	e->path = xstrdup(z->local);
	rc = zone_file_load(e->path, ret_zone, &e->mark, p);
	if (rc != ERR_NOT_FOUND)
		return rc;
	*ret_zone = cron_zone_utc();
	return 0;
}

static int not_found(struct zones *z, struct str name, struct problem *p)
{
	const char *const *names;
	size_t n = zones_names(z, &names);
	const char *near = str_nearest(name, names, n);

	problem_set(p, ERR_NOT_FOUND, "there is no time zone \"" STR_FMT "\"", STR_ARG(name));
	if (near)
		problem_hint(p, "did you mean \"%s\"?", near);
	else
		problem_hint(p,
		    "names are those of %s, as Europe/Berlin; or write an offset, as +02:00",
		    z->dir);
	return ERR_NOT_FOUND;
}

static int refuse_right(struct str name, struct problem *p)
{
	problem_set(p, ERR_INVALID,
	    "\"" STR_FMT "\" counts leap seconds, but the system's clock does not", STR_ARG(name));
	problem_hint(p, "use \"" STR_FMT "\"", (int)name.n - 6, name.p + 6);
	return ERR_INVALID;
}

static int load_named(struct zones *z, struct entry *e, struct str name,
    struct cron_zone **ret_zone, struct problem *p)
{
	int rc;

	if (!zone_name_is_file(name)) {
		problem_set(p, ERR_INVALID, "\"" STR_FMT "\" cannot be the name of a time zone",
		    STR_ARG(name));
		problem_hint(p, "names are made like Europe/Berlin; or write an offset, as +02:00");
		return ERR_INVALID;
	}
	if (str_starts(name, "right/"))
		return refuse_right(name, p);
	if (str_starts(name, "posix/")) /* the same files, where that folder is there at all */
		name = (struct str){name.p + 6, name.n - 6};
	free(e->path);
	e->path = xasprintf("%s/" STR_FMT, z->dir, STR_ARG(name));
	rc = zone_file_load(e->path, ret_zone, &e->mark, p);
	return rc == ERR_NOT_FOUND ? not_found(z, name, p) : rc;
}

/* Three letters and a digit or a sign, a quoted name, or a comma: more a TZ string than a name. */
static bool looks_posix(struct str name)
{
	size_t n = 0;

	if (name.p[0] == '<' || memchr(name.p, ',', name.n))
		return true;
	while (n < name.n && (name.p[n] | 32) >= 'a' && (name.p[n] | 32) <= 'z')
		n++;
	return n >= 3 && n < name.n && memchr("+-0123456789", name.p[n], 12);
}

/* "UTC5" is west by POSIX, but whoever writes it may well mean "UTC+5", which is east. */
static int refuse_unclear(struct str name, struct problem *p)
{
	struct str hours = {name.p + 3, name.n - 3};

	problem_set(p, ERR_INVALID, "\"" STR_FMT "\" could mean east or west", STR_ARG(name));
	problem_hint(p, "write UTC+" STR_FMT " for east of Greenwich, UTC-" STR_FMT " for west",
	    STR_ARG(hours), STR_ARG(hours));
	return ERR_INVALID;
}

static bool is_unclear(struct str name)
{
	return (str_starts(name, "UTC") || str_starts(name, "GMT")) && name.n > 3 &&
	       name.p[3] >= '0' && name.p[3] <= '9' && !memchr(name.p, ',', name.n);
}

static int load_posix(
    struct zones *z, struct entry *e, struct cron_zone **ret_zone, struct problem *p)
{
	struct str name = str_of(e->name);

	if (zone_name_is_file(name)) { /* as EST5EDT is */
		int rc = load_named(z, e, name, ret_zone, p);

		if (rc != ERR_NOT_FOUND)
			return rc;
		free(TAKE(e->path));
	}
	return is_unclear(name) ? refuse_unclear(name, p) : cron_zone_posix(name, ret_zone, p);
}

int entry_load(struct zones *z, struct entry *e, struct cron_zone **ret_zone, struct problem *p)
{
	struct str name = str_of(e->name);

	if (str_is(name, "local"))
		return load_local(z, e, ret_zone, p);
	if (name.p[0] == ':')
		return load_named(z, e, (struct str){name.p + 1, name.n - 1}, ret_zone, p);
	if (name.p[0] == '+' || name.p[0] == '-')
		return cron_zone_fixed(name, ret_zone, p);
	if (cron_zone_fixed(name, ret_zone, NULL) == 0)
		return 0;
	return looks_posix(name) ? load_posix(z, e, ret_zone, p)
	                         : load_named(z, e, name, ret_zone, p);
}
