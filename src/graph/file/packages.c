/* SPDX-License-Identifier: Apache-2.0 */
/* Packages of a file, and which of them cannot be built. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph/file/internal.h"
#include "graph/limits.h"

#define REASON_DEFAULT "listed as unbuildable"

/* One package while it is read. */
struct taking {
	struct upload u;
	struct upload_dep *deps;
	size_t n_deps, cap;
	struct buf targets;
	bool is_blocked;
	struct str who; /* the package's ident, once that is known to be one */
};

static void taking_release(struct taking *t)
{
	free(t->deps);
	buf_release(&t->targets);
}

static int set_ident(const struct node *v, void *arg, struct problem *p)
{
	return 0; /* read first of all, so that every other error can name it */
}

static int add_deps(
    const struct node *v, enum dep_kind kind, const char *name, struct taking *t, struct problem *p)
{
	int rc = node_list(v, name, PACKAGE_DEPS_MAX, t->who, p);

	for (const struct node *i = v->first; rc == 0 && i; i = i->next) {
		struct str text;

		GROW(t->deps, t->cap, t->n_deps + 1);
		if ((rc = node_text(i, name, SIZE_MAX, t->who, &text, p)) < 0)
			return rc;
		if ((rc = ident_parse(text, &t->deps[t->n_deps].on, p)) < 0) {
			problem_at(p, i->line, t->who);
			return rc;
		}
		t->deps[t->n_deps++].kind = kind;
	}
	return rc;
}

static int set_runtime(const struct node *v, void *arg, struct problem *p)
{
	return add_deps(v, DEP_RUNTIME, "runtime", arg, p);
}

static int set_build(const struct node *v, void *arg, struct problem *p)
{
	return add_deps(v, DEP_BUILD, "build", arg, p);
}

static int set_strong(const struct node *v, void *arg, struct problem *p)
{
	return add_deps(v, DEP_STRONG, "strong", arg, p);
}

static int set_targets(const struct node *v, void *arg, struct problem *p)
{
	struct taking *t = arg;
	int rc = node_list(v, "targets", PACKAGE_TARGETS_MAX, t->who, p);

	for (const struct node *i = v->first; rc == 0 && i; i = i->next) {
		struct str text;

		if ((rc = node_text(i, "targets", IDENT_PART_MAX, t->who, &text, p)) < 0)
			return rc;
		if ((rc = job_name_check(text, "a target", p)) < 0) {
			problem_at(p, i->line, t->who);
			return rc;
		}
		if (t->targets.n)
			buf_add_char(&t->targets, ',');
		buf_add_str(&t->targets, text);
	}
	return rc;
}

static int set_buildable(const struct node *v, void *arg, struct problem *p)
{
	struct taking *t = arg;

	if (!node_is_bool(v))
		return wrong_at(
		    p, v->line, t->who, "buildable is %s; true or false is wanted", node_type(v));
	t->is_blocked = str_is(v->text, "false");
	return 0;
}

static int set_reason(const struct node *v, void *arg, struct problem *p)
{
	struct taking *t = arg;

	return node_text(v, "reason", PACKAGE_REASON_MAX, t->who, &t->u.unbuildable, p);
}

static int set_duration(const struct node *v, void *arg, struct problem *p)
{
	struct taking *t = arg;

	return node_duration(v, "duration", JOB_DURATION_MAX_MS, t->who, &t->u.duration_ms, p);
}

static const struct member package_members[] = {
    {"ident", set_ident},
    {"runtime", set_runtime},
    {"build", set_build},
    {"strong", set_strong},
    {"targets", set_targets},
    {"buildable", set_buildable},
    {"reason", set_reason},
    {"duration", set_duration},
};

static const struct node *find_member(const struct node *map, const char *name)
{
	const struct node *v = map->first;

	while (v && !str_is(v->key, name))
		v = v->next;
	return v;
}

static int read_ident(const struct node *map, struct taking *t, struct problem *p)
{
	const struct node *v = find_member(map, "ident");
	struct str text;
	int rc;

	if (!v)
		return wrong_at(p, map->line, STR_NULL, "this package has no ident");
	if ((rc = node_text(v, "ident", SIZE_MAX, STR_NULL, &text, p)) < 0)
		return rc;
	if ((rc = ident_parse_full(text, &t->u.ident, p)) < 0) {
		problem_at(p, v->line, STR_NULL);
		return rc;
	}
	t->who = text;
	return 0;
}

/* Older uploads of a package may stand beside the newest, but none twice. */
static int note_ident(struct plan_file *f, const struct taking *t, uint32_t line, struct problem *p)
{
	uint32_t there = names_find(&f->idents, t->who);

	if (there != NO_NAME)
		return wrong_at(p, line, t->who, "it is here twice; the first is in line %u",
		    f->ident_lines[there]);
	there = names_put(&f->idents, t->who);
	GROW(f->ident_lines, f->ident_cap, there + 1);
	f->ident_lines[there] = line;
	return 0;
}

static void note_line(struct plan_file *f, struct str key, uint32_t line)
{
	uint32_t name = names_find(&f->graph.names, key);
	size_t was = f->line_cap;

	GROW(f->lines, f->line_cap, name + 1);
	if (f->line_cap > was)
		memset(f->lines + was, 0, (f->line_cap - was) * sizeof *f->lines);
	f->lines[name] = line;
}

static int put(struct plan_file *f, struct taking *t, uint32_t line, struct problem *p)
{
	enum upload_result result;
	int rc = note_ident(f, t, line, p);

	if (rc < 0)
		return rc;
	t->u.deps = t->deps;
	t->u.n_deps = t->n_deps;
	t->u.targets = buf_str(&t->targets);
	if (!t->is_blocked)
		t->u.unbuildable = STR_NULL;
	else if (t->u.unbuildable.n == 0)
		t->u.unbuildable = STR(REASON_DEFAULT);
	rc = package_graph_put(&f->graph, &t->u, &result, p);
	if (rc < 0)
		problem_at(p, line, STR_NULL);
	else if (result != UPLOAD_OLDER)
		note_line(f, t->u.ident.key, line);
	return rc;
}

int file_read_package(struct plan_file *f, const struct node *v, struct problem *p)
{
	AUTO(taking_release) struct taking t = {0};
	int rc;

	if (v->kind != NODE_MAP)
		return wrong_at(
		    p, v->line, STR_NULL, "a package is %s; {\"ident\":…} is wanted", node_type(v));
	if ((rc = read_ident(v, &t, p)) < 0)
		return rc;
	rc = members_read(
	    v, package_members, sizeof package_members / sizeof *package_members, &t, t.who, p);
	return rc < 0 ? rc : put(f, &t, v->line, p);
}

struct blocking {
	struct str package, reason;
	uint32_t line;
};

static int set_blocked_package(const struct node *v, void *arg, struct problem *p)
{
	struct blocking *b = arg;

	b->line = v->line;
	return node_text(v, "package", SIZE_MAX, STR("unbuildable"), &b->package, p);
}

static int set_blocked_reason(const struct node *v, void *arg, struct problem *p)
{
	struct blocking *b = arg;

	return node_text(v, "reason", PACKAGE_REASON_MAX, STR("unbuildable"), &b->reason, p);
}

static const struct member blocked_members[] = {
    {"package", set_blocked_package}, {"reason", set_blocked_reason}};

int file_read_blocked(struct plan_file *f, const struct node *v, struct problem *p)
{
	struct blocking b = {.line = v->line, .reason = STR(REASON_DEFAULT)};
	struct ident id;
	int rc = v->kind == NODE_MAP
	             ? members_read(v, blocked_members, 2, &b, STR("unbuildable"), p)
	             : set_blocked_package(v, &b, p);

	if (rc == 0 && (rc = ident_parse(b.package, &id, p)) < 0)
		problem_at(p, b.line, STR("unbuildable"));
	if (rc < 0)
		return rc;
	if (f->n_blocked >= GRAPH_NAMES_MAX)
		return wrong_at(
		    p, v->line, STR_NULL, "more than %d packages are unbuildable", GRAPH_NAMES_MAX);
	GROW(f->blocked, f->blocked_cap, f->n_blocked + 1);
	f->blocked[f->n_blocked++] =
	    (struct plan_block){arena_str(&f->arena, id.key), arena_str(&f->arena, b.reason)};
	return 0;
}
