/* SPDX-License-Identifier: Apache-2.0 */
/* Defaults are text in the table, read by the same code as a person's; {…} is filled in here. */
#include <ctype.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/mem.h"
#include "config/internal.h"
#include "model/limits.h"

static void add_state(struct config *c, struct buf *b)
{
	const char *xdg = source_env(&c->src, "XDG_STATE_HOME");
	const char *home = source_home(c);
	struct passwd *me;

	if (c->src.uid == 0) {
		buf_add_cstr(b, "/var/lib");
		return;
	}
	if (xdg && xdg[0] == '/') {
		buf_add_cstr(b, xdg);
		return;
	}
	if (!home && (me = getpwuid(c->src.uid)))
		home = me->pw_dir;
	buf_printf(b, "%s/.local/state", home ? home : "");
}

static void add_hostname(struct buf *b)
{
	char name[NAME_MAX_BYTES + 1] = "";

	if (gethostname(name, sizeof name - 1) || !name[0])
		snprintf(name, sizeof name, "worker");
	for (char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
			*p = '-';
	buf_add_cstr(b, name);
}

static void add_platform(struct buf *b)
{
	struct utsname u;

	MUST(uname(&u) == 0);
	buf_printf(b, "%s-", u.machine);
	for (const char *p = u.sysname; *p; p++)
		buf_add_char(b, (char)tolower((unsigned char)*p));
}

static void add_filled(struct config *c, struct str name, struct buf *b)
{
	long cpus;

	if (str_is(name, "state")) {
		add_state(c, b);
	} else if (str_is(name, "hostname")) {
		add_hostname(b);
	} else if (str_is(name, "platform")) {
		add_platform(b);
	} else if (str_is(name, "cpus")) {
		cpus = sysconf(_SC_NPROCESSORS_ONLN);
		buf_add_i64(b, cpus > 0 ? cpus : 1);
	} else {
		const struct config_key *k = config_key_find(name);

		MUST(k != NULL);
		buf_add_cstr(b, config_str(c, k->name) ? config_str(c, k->name) : "");
	}
}

static void expand(struct config *c, const char *text, struct buf *b)
{
	for (const char *p = text; *p; p++) {
		const char *end = *p == '{' ? strchr(p, '}') : NULL;

		if (!end) {
			buf_add_char(b, *p);
			continue;
		}
		add_filled(c, (struct str){p + 1, (size_t)(end - p - 1)}, b);
		p = end;
	}
}

void defaults_apply(struct config *c)
{
	struct where w = {.name = "default", .layer = LAYER_DEFAULT};
	struct buf b = {0};

	for (size_t i = 0; i < n_config_keys; i++) {
		const struct config_key *k = &config_keys[i];
		struct value v = {.layer = LAYER_DEFAULT, .origin = "default"};

		if (c->values[i].layer || !k->value)
			continue;
		buf_reset(&b);
		expand(c, k->value, &b);
		w.users = k->users;
		if (value_from_text(c, &w, k, buf_str(&b), &v))
			c->values[i] = v;
		else
			value_release(&v);
	}
	buf_release(&b);
}
