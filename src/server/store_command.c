/* SPDX-License-Identifier: Apache-2.0 */
/* `reeve store`: what can be done to a store while no server has it open. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/frame/api.h"
#include "base/mem.h"
#include "base/options.h"
#include "config/flags.h"
#include "server/server.h"
#include "server/store_command.h"
#include "store/store.h"

const struct option_def store_options[] = {
    {"to", 0, "VERSION", "the schema version to bring it to (default: this reeve's own)", NULL, 0,
        NULL},
    {"lose", 0, NULL, "lose what an older schema cannot hold, and what cannot be set aside", NULL,
        0, NULL},
    {"store", 0, "URL", "the store, such as sqlite:PATH (default: the server's)", NULL, 0, NULL},
    {NULL},
};

const struct option_def store_only_options[] = {
    {"store", 0, "URL", "the store, such as sqlite:PATH (default: the server's)", NULL, 0, NULL},
    {NULL},
};

const struct option_def audit_store_options[] = {
    {"expect", 0, "SEQ:HASH", "a head that was printed before", NULL, 0, NULL},
    {"json", 0, NULL, "what the server would answer", NULL, 0, NULL},
    {"store", 0, "URL", "the store, such as sqlite:PATH (default: the server's)", NULL, 0, NULL},
    {NULL},
};

enum doing { MIGRATE, VERSION, CHECK, AUDIT };

int store_explain(const struct problem *p)
{
	fprintf(stderr, "reeve: %s\n", p->what);
	if (p->hint[0])
		fprintf(stderr, "  hint: %s\n", p->hint);
	return err_exit_code(p->code);
}

static void print_leaving(FILE *to, const char *does, const struct buf *what)
{
	if (what->n)
		fprintf(to, "%s: %s\n", does, what->p);
}

static int migrate_to(const char *url, struct store_migration *m, struct problem *p)
{
	int from = 0, e = store_schema_version(url, &from, p);

	if (e == 0)
		e = store_migrate(url, m, p);
	if (e) {
		int code = store_explain(p);

		print_leaving(stderr, "would be set aside until the way up", &m->set_aside);
		return code;
	}
	printf("%s: schema version %d, was %d\n", url, m->version, from);
	print_leaving(stdout, "set aside until the way up", &m->set_aside);
	print_leaving(stdout, "lost", &m->lost);
	return 0;
}

static int migrate(const char *url, int64_t to, const struct options *o, struct problem *p)
{
	struct store_migration m = {.version = (int)to, .lose = options_switch(o, "lose", false)};
	int code = migrate_to(url, &m, p);

	buf_release(&m.set_aside);
	buf_release(&m.lost);
	return code;
}

static int show(const char *url, struct problem *p)
{
	int version = 0;

	if (store_schema_version(url, &version, p) != 0)
		return store_explain(p);
	printf("%s: schema version %d; this reeve knows up to %d\n", url, version,
	    STORE_SCHEMA_VERSION);
	return 0;
}

/* -- check */

struct findings {
	const char *url;
	int64_t n;
	bool stops; /* the server refuses to start with one of them */
};

/* What has no name is the database's own structure. */
static bool stops_server(const char *table, const char *name)
{
	return !name || strcmp(table, "meta") == 0;
}

static void on_damaged(void *arg, const char *table, const char *name, const char *what)
{
	struct findings *f = arg;

	f->n++;
	f->stops |= stops_server(table, name);
	if (name)
		printf("damaged: %s %s: %s\n", table, name, what);
	else
		printf("damaged: %s: %s\n", table, what);
}

static void on_progress(void *arg, int64_t rows)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r%lld rows", (long long)rows);
}

static int check(const char *url, struct problem *p)
{
	struct findings f = {.url = url};
	struct store_checker to = {&f, on_damaged, on_progress};
	int64_t rows = 0;
	int e = store_check(url, &to, &rows, p);

	if (e && !f.n)
		return store_explain(p);
	if (f.n)
		printf("%s: %lld %s damaged (%lld rows were read); %s\n", url, (long long)f.n,
		    f.n == 1 ? "thing is" : "things are", (long long)rows,
		    f.stops ? "restore a backup: the server does not start with this"
		            : "restore a backup, or go on without them: the server shows what is "
		              "damaged, and does not run it");
	else
		printf("%s: nothing is damaged (%lld rows)\n", url, (long long)rows);
	return f.n ? 1 : 0;
}

/* -- the audit trail */

static void print_audit(const char *url, const struct audit_check *k)
{
	char head[CHAIN_END_TEXT];

	if (k->fault == AUDIT_FITS && k->n)
		printf("%s: the audit trail fits: %lld events, from %llu on\n", url,
		    (long long)k->n, (unsigned long long)k->first);
	else if (k->fault == AUDIT_FITS)
		printf("%s: the audit trail fits: it holds no chained events\n", url);
	else
		printf("%s: the audit trail does not fit: %s\n", url, k->what);
	if (k->n_before)
		printf("%lld older events are from before there was a chain, and not covered\n",
		    (long long)k->n_before);
	if (k->head.seq)
		printf("head %s\n", chain_end_format(&k->head, head));
}

static void print_audit_json(const struct audit_check *k)
{
	AUTO(buf_release) struct buf b = {0};

	api_audit(&b, k);
	puts(b.p);
}

static int audit_opened(struct store *s, struct audit_check *k, struct problem *p)
{
	struct store_reader *r = store_reader_open(s, p);
	int e = r ? 0 : p->code;

	while (e == 0 && !k->done)
		e = store_audit_step(r, k);
	if (r && e)
		problem_set(p, e, "the store cannot be read: `reeve store check` says more");
	store_reader_close(r);
	return e;
}

static int audit(const char *url, const struct options *o, struct problem *p)
{
	const char *expect = options_get(o, "expect");
	struct audit_check k = {0};
	struct store *s = NULL;
	int e;

	if (expect && !chain_end_parse(str_of(expect), &k.expect)) {
		problem_set(p, ERR_INVALID, "--expect %.100s is not an event's hash", expect);
		problem_hint(
		    p, "give the head as it was printed: its number, a colon, 64 hex digits");
		return store_explain(p);
	}
	e = store_open(url, &(struct store_options){0}, &s, p);
	if (e == 0)
		e = audit_opened(s, &k, p);
	store_close(s);
	if (e)
		return store_explain(p);
	if (options_given(o, "json"))
		print_audit_json(&k);
	else
		print_audit(url, &k);
	return k.fault ? 1 : 0;
}

const char *store_url(const struct options *o, struct config **ret_config, int *ret_code)
{
	const char *url = options_get(o, "store");

	*ret_config = NULL;
	if (url)
		return url;
	*ret_config = config_for("reeve store", CONFIG_FOR_SERVER, 0, NULL, ret_code);
	return *ret_config ? config_str(*ret_config, "server.store") : NULL;
}

/* Version 0 would be an empty store: not from here. */
static int with_store(const struct options *o, enum doing doing)
{
	int code = 1;
	int64_t to = STORE_SCHEMA_VERSION;
	struct problem p = {0};
	struct config *c;
	const char *url;

	if (doing == MIGRATE && options_i64(o, "to", 1, STORE_SCHEMA_VERSION, &to, &p) != 0)
		return store_explain(&p);
	url = store_url(o, &c, &code);
	if (!url)
		return code;
	code = doing == MIGRATE ? migrate(url, to, o, &p)
	       : doing == CHECK ? check(url, &p)
	       : doing == AUDIT ? audit(url, o, &p)
	                        : show(url, &p);
	config_free(c);
	return code;
}

static int store_command(int argc, char **argv, enum doing doing)
{
	static const char *const names[] = {"reeve store migrate", "reeve store version",
	    "reeve store check", "reeve audit verify"};
	struct options o = {.program = names[doing]};
	struct problem p = {0};
	int code;

	options_add_table(&o, doing == MIGRATE ? store_options
	                      : doing == AUDIT ? audit_store_options
	                                       : store_only_options);
	if (options_parse(&o, OPTIONS_ANYWHERE, argc, argv, &p) != 0)
		code = store_explain(&p);
	else
		code = with_store(&o, doing);
	options_release(&o);
	return code;
}

int store_migrate_command(int argc, char **argv)
{
	return store_command(argc, argv, MIGRATE);
}

int store_version_command(int argc, char **argv)
{
	return store_command(argc, argv, VERSION);
}

int store_check_command(int argc, char **argv)
{
	return store_command(argc, argv, CHECK);
}

int audit_store_command(int argc, char **argv)
{
	return store_command(argc, argv, AUDIT);
}
