/* SPDX-License-Identifier: Apache-2.0 */
/* `graph check`: what is wrong with a kept graph or, without a server, with a file. */
#include "base/mem.h"
#include "cli/nouns/graphs.h"
#include "cli/tasks/work.h"
#include "graph/file/file.h"
#include "graph/limits.h"
#include "graph/write/findings.h"

#define SHOWN_MOST 20 /* of each kind; all that are listed with -o wide */

static int check_file(struct cli *c, const char *path, json_t **ret_findings)
{
	const struct plan_reading how = {.any_loops = true};
	AUTO(buf_release) struct buf text = {0}, json = {0};
	struct plan_file f;
	struct findings found;
	json_error_t e;
	int r = input_read(c, path, PLAN_FILE_MAX, &text);

	if (r == 0)
		r = plan_file_read_as(buf_str(&text), &how, &f, &c->problem);
	if (r < 0)
		return r;
	if (f.has_packages) {
		findings_make(&f.graph, f.blocked, f.n_blocked, &found);
		findings_json(&found, &json);
		findings_release(&found);
	}
	plan_file_release(&f);
	if (!json.n)
		return problem_set(&c->problem, ERR_INVALID, "this file has jobs, not packages");
	*ret_findings = json_loadb(json.p, json.n, 0, &e);
	return *ret_findings ? 0 : problem_set(&c->problem, ERR_INTERNAL, "no JSON: %s", e.text);
}

static void show_more(const struct cli *c, size_t shown, int64_t n)
{
	if (n > (int64_t)shown)
		say(stdout, "  and %lld more%s", (long long)n - (long long)shown,
		    c->format == FORMAT_WIDE ? "" : "; -o wide shows more");
}

/* The items of one kind, each as a line. */
static void show_kind(struct cli *c, const json_t *found, const char *member, const char *title,
    void (*line)(const json_t *item))
{
	const json_t *list = json_object_get(found, member), *item;
	int64_t n = ji(json_object_get(found, "counts"), member, 0);
	size_t i, shown = 0;

	if (!n)
		return;
	say(stdout, "%lld %s:", (long long)n, title);
	json_array_foreach(list, i, item)
	{
		if (i == SHOWN_MOST && c->format != FORMAT_WIDE)
			break;
		line(item);
		shown++;
	}
	show_more(c, shown, n);
}

static void text_line(const json_t *item)
{
	say(stdout, "  %s", json_string_value(item));
}

static void unknown_line(const json_t *item)
{
	const json_t *first = json_array_get(json_object_get(item, "needed_by"), 0);
	int64_t n = ji(item, "n_needed_by", 0);

	say(stdout, "  %s, needed by %s%s", js(item, "package"),
	    first ? json_string_value(first) : "nobody", n > 1 ? " and others" : "");
}

static void blocked_line(const json_t *item)
{
	if (jhas(item, "through"))
		say(stdout, "  %s through %s: %s", js(item, "package"), js(item, "through"),
		    js(item, "reason"));
	else
		say(stdout, "  %s: %s", js(item, "package"), js(item, "reason"));
}

static void show_findings(struct cli *c, const json_t *found)
{
	char n[TIME_TEXT_MAX], m[TIME_TEXT_MAX];

	say(stdout, "%s packages, %s dependencies: %s", human_count(ji(found, "packages", 0), n),
	    human_count(ji(found, "dependencies", 0), m),
	    jb(found, "ok") ? "plans can be made" : "not everything can be planned");
	show_kind(c, found, "loops", "loop of runtime dependencies", text_line);
	show_kind(c, found, "contradictions", "cycles that have no order", text_line);
	show_kind(c, found, "unknown", "packages that nobody has uploaded", unknown_line);
	show_kind(c, found, "unbuildable", "packages that cannot be built", blocked_line);
}

int cmd_graph_check(struct cli *c)
{
	const char *file = options_get(&c->options, "file");
	AUTO(json_drop) json_t *found = NULL;
	int r;

	if ((c->options.n_args == 1) == (file != NULL)) {
		problem_set(&c->problem, ERR_INVALID, "either a GRAPH or --file FILE is wanted");
		return problem_hint(&c->problem, "reeve graph ls shows the graphs");
	}
	r = file ? check_file(c, file, &found)
	         : noun_call(c, "GET", &graph_noun, c->options.args[0], "check", NULL, &found);
	if (r < 0)
		return r;
	if (wants_machine(c))
		print_json(c, found);
	else
		show_findings(c, found);
	return jb(found, "ok") ? EXIT_OK : EXIT_FAILED;
}
