/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changing a kept graph: a file that takes the place of all that there is, packages that are added
 * to it, and marks and removals. Each is read, made and checked on a reader's thread, in the
 * graph's turn; what comes of it are rows, which go to the brain as one command.
 */
#include <stdlib.h>
#include <string.h>

#include "api/graphs/graphs.h"
#include "core/graph/view.h"
#include "graph/limits.h"
#include "wire/json/fields.h"

#define COPY_BYTES (2u << 20)

struct mark {
	struct str package;
	struct str reason; /* NULL: it can be built */
	bool removes;
};

struct uploading {
	struct graph_turn *turn;
	char *text; /* a copy of the body, for the client may take his away */
	size_t n, copied;
	void *timer; /* the next slice of it; NULL: not set */
	void (*work)(struct graph_turn *t);
	struct str name;    /* of a graph that is to be made; NULL: it is there */
	int64_t if_version; /* the version that the client demands; 0: any */
	struct mark *marks;
	size_t n_marks, cap_marks;
	/* what the reader's thread has made of it */
	struct graph_counts counts;
	struct graph_row row;
	struct object_parts parts;
	struct arena arena; /* of the rows */
};

const struct graph_counts *upload_counts(const struct call *c)
{
	bool is_upload = c->route->fn == graph_replace || c->route->fn == graph_add ||
	                 c->route->fn == graph_patch;

	return is_upload && c->state ? &((const struct uploading *)c->state)->counts : NULL;
}

static void upload_free(struct call *c)
{
	struct uploading *u = c->state;

	free(u->text);
	free(u->marks);
	arena_release(&u->arena);
}

/* -- on a reader's thread */

static void note_counts(struct uploading *u, const struct package_change *x)
{
	u->counts =
	    (struct graph_counts){x->added, x->replaced, x->same, x->older, x->marked, x->removed};
}

static void make_rows(
    struct uploading *u, struct graph_in_memory *k, const struct package_change *x)
{
	kept_count(k, &u->row);
	u->parts = (struct object_parts){.all = !x, .arena = &u->arena};
	u->parts.rows = kept_rows(k, x, &u->arena, &u->parts.n);
}

static int read_text(struct graph_turn *t, struct plan_file *ret_file)
{
	struct uploading *u = t->state;
	struct plan_reading how = {.seed = t->seed};
	int rc = plan_file_read_as((struct str){u->text, u->n}, &how, ret_file, &t->problem);

	free(TAKE(u->text)); /* the text's packages are in the graph now */
	if (rc == 0 && !ret_file->has_packages) {
		plan_file_release(ret_file);
		problem_set(&t->problem, ERR_INVALID, "a graph has packages, not jobs");
		rc = problem_hint(&t->problem, "jobs are submitted: reeve group submit");
	}
	return rc;
}

/* What was in memory goes; the file's own graph is there in its place. */
static void replace_all(struct graph_turn *t)
{
	struct uploading *u = t->state;
	struct plan_file f;
	struct graph_in_memory next;

	if (read_text(t, &f) < 0)
		return;
	if (kept_of_file(&next, &f, &t->problem) == 0) {
		kept_release(t->kept);
		*t->kept = next;
		t->is_changed = true;
		make_rows(u, t->kept, NULL);
		u->counts = (struct graph_counts){.added = next.g.n_known};
		if (t->row.n_packages > 0)
			u->counts.removed = (size_t)t->row.n_packages;
	}
	plan_file_release(&f);
}

static int make_marks(struct package_change *x, const struct uploading *u, struct problem *p)
{
	int rc = 0;

	for (size_t i = 0; i < u->n_marks && rc == 0; i++) {
		const struct mark *m = &u->marks[i];
		struct ident id;

		if ((rc = ident_parse(m->package, &id, p)) < 0)
			break;
		rc = m->removes ? change_remove(x, &id, p) : change_mark(x, &id, m->reason, p);
	}
	return rc;
}

static void end_change(struct graph_turn *t, struct package_change *x, int rc)
{
	struct uploading *u = t->state;

	if (rc == 0)
		rc = change_check(x, &t->problem);
	if (rc < 0) {
		change_undo(x);
		return;
	}
	note_counts(u, x);
	if (x->n) {
		t->is_changed = true;
		make_rows(u, t->kept, x);
	}
	change_keep(x);
}

static void add_to_it(struct graph_turn *t)
{
	struct package_change x = {.g = &t->kept->g};
	struct plan_file f;

	if (read_text(t, &f) < 0)
		return;
	end_change(t, &x, kept_merge(&x, &f, &t->problem));
	plan_file_release(&f);
}

static void mark_it(struct graph_turn *t)
{
	struct package_change x = {.g = &t->kept->g};

	end_change(t, &x, make_marks(&x, t->state, &t->problem));
}

/* -- on the loop */

static void answer(struct call *c, const struct reply *r)
{
	const struct uploading *u = c->state;

	if (u->name.p)
		resource_made(c, r);
	else
		resource_changed(c, r);
}

/* The outcome is durable. A replay was done earlier, and is not what is in memory now. */
static void end_turn(struct call *c, const struct reply *r)
{
	struct uploading *u = c->state;
	bool done = r->code == 0 && !r->replayed;

	graph_turn_end(u->turn, done ? u->turn->row.version + 1 : 0);
}

static void on_reply(struct call *c, const struct reply *r)
{
	answer(c, r);
	end_turn(c, r);
}

static void command(struct call *c, struct uploading *u)
{
	struct event ev = {.kind = u->name.p ? EV_CREATE : EV_DO};

	u->row.name = u->name;
	ev.object.kind = KIND_GRAPH;
	ev.object.row = &u->row;
	ev.object.parts = &u->parts;
	if (!u->name.p) {
		ev.object.id = c->about;
		ev.object.verb = GRAPH_CHANGE;
		ev.object.if_version = u->if_version ? u->if_version : u->turn->row.version;
	}
	c->on_late = end_turn;
	call_command(c, &ev, on_reply);
}

static void upload_done(struct graph_turn *t)
{
	struct call *c = t->c;
	struct uploading *u = t->state;
	struct reply same = {.id = c->about};

	if (c->over || access_is_over(c)) {
		graph_turn_end(t, 0);
	} else if (t->problem.code) {
		c->problem = t->problem;
		call_problem(c);
		graph_turn_end(t, 0);
	} else if (!t->is_changed) {
		resource_changed(c, &same);
		graph_turn_end(t, 0);
	} else {
		command(c, u);
	}
}

static struct uploading *upload_new(struct call *c)
{
	struct uploading *u = call_state(c, sizeof *u);

	c->on_free = upload_free;
	return u;
}

static void begin(struct call *c, struct uploading *u, void (*work)(struct graph_turn *t))
{
	struct graph_turn *t = graph_turn_new(c, c->about);

	u->turn = t;
	t->state = u;
	t->work = work;
	t->done = upload_done;
	t->as_it_is = work == replace_all;
	graph_turn_begin(t);
}

static void copy_over(struct call *c)
{
	struct uploading *u = c->state;

	if (u->timer)
		c->host->cancel_timer(c->host->arg, TAKE(u->timer));
}

/* Slice by slice: fresh memory for 64 MB takes the loop longer than others should wait. */
static void copy_more(void *arg)
{
	struct call *c = arg;
	struct uploading *u = c->state;
	size_t left = u->n - u->copied, n = left < COPY_BYTES ? left : COPY_BYTES;

	u->timer = NULL;
	memcpy(u->text + u->copied, c->req.body.p + u->copied, n);
	u->copied += n;
	call_hash(c, u->copied);
	if (u->copied < u->n)
		u->timer = c->host->timer(c->host->arg, 0, copy_more, c);
	else
		begin(c, u, u->work);
}

/* The body, then the work. */
static void take_body(struct call *c, struct uploading *u, void (*work)(struct graph_turn *t))
{
	struct str type = c->req.content_type, body = c->req.body;
	struct problem *p = &c->problem;

	if (type.p && !media_is(type, "application/json") && !media_is(type, "application/yaml")) {
		problem_set(p, ERR_MEDIA, "the content type is \"%.*s\"",
		    type.n > 64 ? 64 : (int)type.n, type.p);
		problem_hint(p, "send application/json or application/yaml");
	} else if (body.n == 0) {
		problem_set(p, ERR_INVALID, "the body holds no packages");
		problem_hint(
		    p, "send for example {\"packages\":[{\"ident\":\"core/gcc/9.1.0/1\"}]}");
	} else {
		u->text = xmalloc(body.n);
		u->n = body.n;
		u->work = work;
		c->on_over = copy_over;
		copy_more(c);
		return;
	}
	call_problem(c);
}

/* A name that nobody has is one that could be had. */
static bool find_or_name(struct call *c, struct uploading *u)
{
	struct problem ignored;

	c->about = find_object(c, KIND_GRAPH, c->arg, "graph", &ignored);
	if (c->about && c->req.if_none_match.p) {
		problem_set(&c->problem, ERR_PRECONDITION, "there is a graph \"%.*s\" already",
		    STR_ARG(c->arg));
		problem_hint(&c->problem, "without If-None-Match it is replaced");
	} else if (!c->about && c->req.if_match.p) {
		problem_set(&c->problem, ERR_PRECONDITION, "there is no graph of that name");
	} else if (!c->about) {
		u->name = arena_str(&c->arena, c->arg);
		if (name_check(u->name, "graph", &c->problem) == 0)
			return true;
	} else {
		u->if_version = call_if_match(c, core_graph(c->host->core, c->about)->version);
		return u->if_version >= 0;
	}
	call_problem(c);
	return false;
}

void graph_replace(struct call *c)
{
	struct uploading *u = upload_new(c);

	if (find_or_name(c, u))
		take_body(c, u, replace_all);
}

void graph_add(struct call *c)
{
	struct uploading *u = upload_new(c);
	struct event ev = {.kind = EV_DO};

	if (!resource_begin(c, &ev))
		return;
	u->if_version = ev.object.if_version;
	take_body(c, u, add_to_it);
}

/* -- marks and removals */

static int take_name(struct uploading *u, struct call *c, json_t *v, const char *field,
    struct mark m, struct problem *p)
{
	if (!json_is_string(v) || json_string_length(v) > 4 * (IDENT_PART_MAX + 1)) {
		problem_set(
		    p, ERR_INVALID, "\"%s\" has something that is no package's name", field);
		return problem_field(p, field);
	}
	m.package = arena_str(&c->arena, (struct str){json_string_value(v), json_string_length(v)});
	GROW(u->marks, u->cap_marks, u->n_marks + 1);
	u->marks[u->n_marks++] = m;
	return 0;
}

static int take_removed(struct call *c, json_t *v, const char *field, struct problem *p)
{
	return take_name(c->state, c, v, field, (struct mark){.removes = true}, p);
}

static int take_buildable(struct call *c, json_t *v, const char *field, struct problem *p)
{
	return take_name(c->state, c, v, field, (struct mark){.reason = STR_NULL}, p);
}

/* {"package":…,"reason":…}, or a name */
static int take_blocked(struct call *c, json_t *v, const char *field, struct problem *p)
{
	json_t *name = json_is_object(v) ? json_object_get(v, "package") : v;
	json_t *why = json_is_object(v) ? json_object_get(v, "reason") : NULL;
	struct mark m = {.reason = STR("listed as unbuildable")};

	if (why && (!json_is_string(why) || !json_string_length(why))) {
		problem_set(p, ERR_INVALID, "a \"reason\" must be a text");
		return problem_field(p, field);
	}
	if (why)
		m.reason = arena_str(
		    &c->arena, (struct str){json_string_value(why), json_string_length(why)});
	return take_name(c->state, c, name, field, m, p);
}

static int take_each(json_t *v, const char *field, struct call *c, struct problem *p,
    int (*take)(struct call *c, json_t *v, const char *field, struct problem *p))
{
	json_t *one;
	size_t i;
	int rc = 0;

	if (!json_is_array(v)) {
		problem_set(p, ERR_INVALID, "\"%s\" must be a list of packages", field);
		return problem_field(p, field);
	}
	json_array_foreach(v, i, one) if ((rc = take(c, one, field, p)) < 0) break;
	return rc;
}

static int set_remove(json_t *v, const char *field, void *arg, struct problem *p)
{
	return take_each(v, field, arg, p, take_removed);
}

static int set_buildable(json_t *v, const char *field, void *arg, struct problem *p)
{
	return take_each(v, field, arg, p, take_buildable);
}

static int set_unbuildable(json_t *v, const char *field, void *arg, struct problem *p)
{
	return take_each(v, field, arg, p, take_blocked);
}

#define NAMES "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}"
const struct field graph_patch_fields[] = {
    FIELD_TOLD("remove", 0, "packages, by origin/name or full ident", NAMES),
    FIELD_TOLD("unbuildable", 0, "packages that cannot be built, and why",
        "{\"type\":\"array\",\"items\":{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"object\","
        "\"required\":[\"package\"],\"properties\":{\"package\":{\"description\":\"origin/name or "
        "full ident\",\"type\":\"string\"},\"reason\":{"
        "\"description\":\"why\",\"type\":\"string\",\"maxLength\":1024}}}]}}"),
    FIELD_TOLD("buildable", 0, "packages that can be built again", NAMES),
    {NULL},
};
static const struct json_member own[] = {
    {"remove", set_remove}, {"unbuildable", set_unbuildable}, {"buildable", set_buildable}, {NULL}};

void graph_patch(struct call *c)
{
	struct uploading *u = upload_new(c);
	const struct fields_in r = {
	    .arena = &c->arena, .into = u, .problem = &c->problem, .own = own, .arg = c};
	struct event ev = {.kind = EV_DO};

	if (!resource_begin(c, &ev) || !call_fields(c, &r, graph_patch_fields))
		return;
	u->if_version = ev.object.if_version;
	if (u->n_marks)
		begin(c, u, mark_it);
	else
		call_fail(c, ERR_INVALID, "nothing to change: the body names no package");
}
