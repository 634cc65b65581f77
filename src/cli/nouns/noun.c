/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs that every noun may have, and what they are made of. */
#include "cli/nouns/noun.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "cli/output/stream.h"

#define TRIES 10 /* against others who change the same object */

static const struct noun *const nouns[] = {
#define X(word) &word##_noun,
    NOUN_TABLE(X)
#undef X
};

const struct noun *noun_find(const char *word, size_t n)
{
	for (size_t i = 0; i < N_OF(nouns); i++)
		if (strlen(nouns[i]->word) == n && !memcmp(nouns[i]->word, word, n))
			return nouns[i];
	return NULL;
}

static const struct noun *noun_of(const struct cli *c)
{
	const struct noun *n = noun_find(c->command->path, strcspn(c->command->path, " "));

	MUST(n != NULL);
	return n;
}

int noun_path(
    struct cli *c, const struct noun *n, const char *name, const char *verb, struct buf *ret_path)
{
	bool by_id = n->resolve && (!n->has_names || !strcmp(name, "@last"));
	char id[25];

	if (by_id && n->resolve(c, name, id) < 0)
		return c->problem.code;
	buf_add_cstr(ret_path, n->path);
	url_add_path(ret_path, by_id ? id : name);
	if (verb)
		url_add_path(ret_path, verb);
	return 0;
}

static int told(struct cli *c, const struct noun *n, const char *name, int r)
{
	if (r == ERR_NOT_FOUND && n->unknown)
		n->unknown(c, name);
	return r;
}

int noun_call(struct cli *c, const char *method, const struct noun *n, const char *name,
    const char *verb, json_t *body, json_t **ret_json)
{
	AUTO(buf_release) struct buf path = {0};
	int r = noun_path(c, n, name, verb, &path);

	return r < 0 ? r : told(c, n, name, cli_call(c, method, path.p, body, ret_json));
}

int noun_get(struct cli *c, const struct noun *n, const char *name, json_t **ret_object)
{
	return noun_call(c, "GET", n, name, NULL, NULL, ret_object);
}

int noun_wait_idle(
    struct cli *c, const struct noun *n, const char *name, noun_running *running, bool tells)
{
	struct timespec moment = {0, 100000000};
	int64_t before = -1;

	for (;;) {
		AUTO(json_drop) json_t *object = NULL;
		int r = noun_get(c, n, name, &object);
		int64_t tasks = r < 0 ? 0 : running(object);

		if (tasks == 0)
			return r < 0 ? r : EXIT_OK;
		if (tells && tasks != before)
			cli_note(c, "%s still runs %lld task%s", name, (long long)tasks,
			    tasks == 1 ? "" : "s");
		before = tasks;
		nanosleep(&moment, NULL);
	}
}

/* The object itself for machines, else one line about it. */
static void noun_tell(struct cli *c, const struct noun *n, json_t *object, const char *done)
{
	if (wants_machine(c))
		print_json(c, object);
	else if (!c->quiet)
		say(stdout, "%s %s %s", n->word, js(object, "name"), done);
}

int noun_each(struct cli *c, noun_fn *fn)
{
	int r = EXIT_OK;

	for (size_t i = 0; i < c->options.n_args && r == EXIT_OK; i++)
		r = fn(c, noun_of(c), c->options.args[i]);
	return r;
}

int noun_alone(struct cli *c)
{
	return c->options.n_args <= 1
	           ? 0
	           : problem_set(&c->problem, ERR_INVALID, "one %s at a time", noun_of(c)->word);
}

/* The command's own options as parameters; how something is shown is not the server's business. */
static void add_options(const struct cli *c, struct buf *url)
{
	const struct option_def *const *table = c->command->options;

	for (size_t i = 0; i < COMMAND_TABLES_MAX && table[i]; i++)
		if (table[i] != output_options && table[i] != watch_options &&
		    table[i] != limit_options)
			query_add(c, table[i], url);
}

static bool is_narrowed(const struct cli *c)
{
	AUTO(buf_release) struct buf query = {0};

	add_options(c, &query);
	return query.n > 0;
}

/* A list on its way to the reader. */
struct shown_list {
	struct stream out;
	const struct listing *l;
	json_t *all; /* what the remarks are about; NULL: there are none */
	bool more;
};

static bool show_page(struct cli *c, json_t *items, const char *next, void *arg)
{
	struct shown_list *s = arg;

	s->more = next;
	if (wants_machine(c)) {
		stream_json(&s->out, items);
		if (next)
			stream_json_end(&s->out, next);
		return stream_flush(&s->out);
	}
	if (s->l->prepare)
		s->l->prepare(c, items);
	if (s->all)
		json_array_extend(s->all, items);
	stream_rows(&s->out, s->l->columns, s->l->n_columns, items);
	return stream_flush(&s->out);
}

static void end_list(struct cli *c, struct shown_list *s)
{
	const struct listing *l = s->l;

	if (wants_machine(c)) {
		if (!s->more)
			stream_json_end(&s->out, NULL);
		return;
	}
	if (s->out.n == 0) {
		cli_note(c, "%s", l->none_such && is_narrowed(c) ? l->none_such : l->none);
		if (l->nothing)
			l->nothing(c);
	} else if (s->all)
		l->remarks(c, s->all);
	if (l->usual && s->more)
		cli_note(c, "(there are more; -n 0 shows all)");
}

int listing_show(struct cli *c, const struct listing *l, const char *url)
{
	AUTO(json_drop) json_t *all = l->remarks && !wants_machine(c) ? json_array() : NULL;
	struct shown_list s = {.out.c = c, .l = l, .all = all};
	int64_t limit = wants_machine(c) ? 0 : l->usual;
	int r;

	if (options_i64(&c->options, "limit", 0, l->most, &limit, &c->problem) < 0)
		return c->problem.code;
	r = cli_each_page(c, url, (size_t)limit, show_page, &s);
	if (r < 0)
		return r;
	if (!ferror(stdout))
		end_list(c, &s);
	return EXIT_OK;
}

static int draw_list(struct cli *c)
{
	const struct noun *n = noun_of(c);
	AUTO(buf_release) struct buf url = {0};

	buf_add_cstr(&url, n->path);
	if (!n->query)
		add_options(c, &url);
	else if (n->query(c, &url) < 0)
		return c->problem.code;
	return listing_show(c, n->list, url.p);
}

int noun_ls(struct cli *c)
{
	return watch_loop(c, draw_list);
}

static int show_one(struct cli *c, const struct noun *n, const char *name)
{
	AUTO(json_drop) json_t *object = NULL;
	int r = noun_get(c, n, name, &object);

	if (r < 0)
		return r;
	if (wants_machine(c)) {
		print_json(c, object);
		return EXIT_OK;
	}
	if (name != c->options.args[0])
		putchar('\n');
	facts_show(c, n->view->facts, n->view->n_facts, object);
	return n->view->more ? n->view->more(c, object) : EXIT_OK;
}

int noun_show(struct cli *c)
{
	return noun_each(c, show_one);
}

const struct setting *noun_settings(const struct noun *n, struct made_settings *made)
{
	return n->fields ? settings_make(n->fields, made) : n->settings;
}

int noun_create(struct cli *c)
{
	const struct noun *n = noun_of(c);
	struct made_settings made;
	AUTO(json_drop) json_t *body = json_object(), *object = NULL;
	int r;

	if (noun_alone(c) < 0 || body_add_text(c, body, "name", c->options.args[0]) < 0 ||
	    body_add(c, noun_settings(n, &made), NULL, body) < 0)
		return c->problem.code;
	r = cli_call(c, "POST", n->path, body, &object);
	if (r < 0)
		return r;
	noun_tell(c, n, object, "created");
	return EXIT_OK;
}

static int nothing_given(struct cli *c, const struct noun *n)
{
	problem_set(&c->problem, ERR_INVALID, "nothing to change was given");
	return n->set_hint
	           ? problem_hint(&c->problem, "%s", n->set_hint)
	           : problem_hint(&c->problem, "`reeve %s set --help` lists the settings", n->word);
}

static int change_once(struct cli *c, const struct noun *n, const char *name,
    const struct change *change, json_t **ret_changed)
{
	AUTO(json_drop) json_t *body = json_object(), *old = NULL;
	AUTO(buf_release) struct buf path = {0};
	char etag[ETAG_MAX] = "";
	int r = 0;

	if (change->needs_old && ((r = noun_path(c, n, name, NULL, &path)) < 0 ||
	                             (r = cli_get_tagged(c, path.p, etag, &old)) < 0))
		return told(c, n, name, r);
	if ((r = change->fill(c, change->arg, old, body)) < 0)
		return r;
	if (json_object_size(body) == 0)
		return nothing_given(c, n);
	if (!path.n && (r = noun_path(c, n, name, NULL, &path)) < 0)
		return r;
	return told(c, n, name, cli_patch(c, path.p, body, etag, ret_changed));
}

/* What is put over what there is: nobody else may have changed that since. */
int noun_change(struct cli *c, const struct noun *n, const char *name, const struct change *change,
    json_t **ret_changed)
{
	int r;

	for (int tries = 1;; tries++) {
		r = change_once(c, n, name, change, ret_changed);
		if (r != ERR_PRECONDITION || tries == TRIES)
			return r;
		client_backoff(c->client, tries);
	}
}

static int fill_settings(struct cli *c, void *arg, const json_t *old, json_t *body)
{
	return body_add(c, arg, old, body);
}

int noun_apply(struct cli *c, const struct noun *n, const char *name, json_t **ret_changed)
{
	struct made_settings made;
	const struct setting *settings = noun_settings(n, &made);
	const struct change change = {
	    body_needs_old(c, settings), fill_settings, (struct setting *)settings};

	return noun_change(c, n, name, &change, ret_changed);
}

static int set_one(struct cli *c, const struct noun *n, const char *name)
{
	AUTO(json_drop) json_t *object = NULL;
	int r = noun_apply(c, n, name, &object);

	if (r < 0)
		return r;
	noun_tell(c, n, object, "changed");
	return EXIT_OK;
}

/* The usage line says whether several may be named. */
int noun_set(struct cli *c)
{
	if (!strstr(c->command->args, "…") && noun_alone(c) < 0)
		return c->problem.code;
	return noun_each(c, set_one);
}

int noun_act(struct cli *c, const struct noun *n, const char *name, const char *verb, json_t *body,
    const char *done)
{
	AUTO(json_drop) json_t *object = NULL;
	int r = noun_call(c, "POST", n, name, verb, body, &object);

	if (r < 0)
		return r;
	noun_tell(c, n, object, done);
	return EXIT_OK;
}

static int pause_one(struct cli *c, const struct noun *n, const char *name)
{
	AUTO(json_drop) json_t *body = json_object();

	if (body_add(c, n->pause, NULL, body) < 0)
		return c->problem.code;
	return noun_act(c, n, name, "pause", body, "paused");
}

int noun_pause(struct cli *c)
{
	return noun_each(c, pause_one);
}

static int resume_one(struct cli *c, const struct noun *n, const char *name)
{
	return noun_act(c, n, name, "resume", NULL, "resumed");
}

int noun_resume(struct cli *c)
{
	return noun_each(c, resume_one);
}

int noun_delete(struct cli *c, const struct noun *n, const char *name)
{
	AUTO(json_drop) json_t *reply = NULL;
	AUTO(buf_release) struct buf path = {0};
	int r = noun_path(c, n, name, NULL, &path);

	if (r < 0)
		return r;
	add_options(c, &path);
	return cli_call(c, "DELETE", path.p, NULL, &reply);
}

static int rm_one(struct cli *c, const struct noun *n, const char *name)
{
	int r = noun_delete(c, n, name);

	if (r < 0)
		return r;
	if (!c->quiet)
		say(stdout, "%s %s %s", n->word, name, n->gone);
	return EXIT_OK;
}

int noun_rm(struct cli *c)
{
	return noun_each(c, rm_one);
}
