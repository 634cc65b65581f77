/* SPDX-License-Identifier: Apache-2.0 */
/* Kept graphs and their packages for people. */
#include "base/mem.h"
#include "cli/nouns/graphs.h"

#define DEPENDENTS_SHOWN 20

static const struct heading columns[] = {
    {"NAME", 0, {SHOWN_TEXT, "name"}},
    {"PACKAGES", HEADING_RIGHT, {SHOWN_COUNT, "packages"}},
    {"DEPENDENCIES", HEADING_RIGHT, {SHOWN_COUNT, "dependencies"}},
    {"UNBUILDABLE", HEADING_RIGHT, {SHOWN_COUNT, "unbuildable"}},
    {"CHANGED", 0, {SHOWN_AGO, "mtime"}},
    {"BY", HEADING_STRETCH, {SHOWN_TEXT, "actor"}},
    {"ID", HEADING_WIDE, {SHOWN_TEXT, "id"}},
};

const struct listing graph_list = {.columns = columns,
    .n_columns = N_OF(columns),
    .most = 1000000,
    .none = "there are no graphs; `reeve graph load NAME FILE` makes one"};

static const struct fact facts[] = {
    {"name", {SHOWN_TEXT, "name"}},
    {"id", {SHOWN_TEXT, "id"}},
    {"packages", {SHOWN_COUNT, "packages"}},
    {"dependencies", {SHOWN_COUNT, "dependencies"}},
    {"unbuildable", {SHOWN_COUNT, "unbuildable"}},
    {"made", {SHOWN_TIME, "ctime"}},
    {"changed", {SHOWN_TIME, "mtime"}},
    {"by", {SHOWN_TEXT, "actor"}},
    {"version", {SHOWN_NUMBER, "version"}},
};

const struct view graph_view = {facts, N_OF(facts)};

static char *buildable_words(const struct cli *c, const json_t *package)
{
	return jb(package, "buildable") ? xstrdup("yes")
	                                : xasprintf("no: %s", js(package, "reason"));
}

static const struct heading package_columns[] = {
    {"PACKAGE", 0, {SHOWN_TEXT, "ident"}},
    {"RUNTIME", HEADING_STRETCH, {SHOWN_NAMES, "runtime"}},
    {"BUILD", HEADING_STRETCH, {SHOWN_NAMES, "build"}},
    {"STRONG", HEADING_STRETCH, {SHOWN_NAMES, "strong"}},
    {"BUILDABLE", 0, {.words = buildable_words}},
    {"TARGETS", HEADING_WIDE, {SHOWN_NAMES, "targets"}},
    {"TAKES", HEADING_WIDE, {SHOWN_SPAN, "duration_ms"}},
};

const struct listing package_list = {.columns = package_columns,
    .n_columns = N_OF(package_columns),
    .usual = 50,
    .most = 1000000,
    .none = "it has no packages",
    .none_such = "it has no such packages"};

static const struct fact package_facts[] = {
    {"package", {SHOWN_TEXT, "package"}},
    {"ident", {SHOWN_TEXT, "ident"}},
    {"runtime", {SHOWN_NAMES, "runtime", "none"}},
    {"build", {SHOWN_NAMES, "build", "none"}},
    {"strong", {SHOWN_NAMES, "strong", "none"}},
    {"targets", {SHOWN_NAMES, "targets"}},
    {"buildable", {.words = buildable_words}},
    {"takes", {SHOWN_SPAN, "duration_ms"}},
};

static int show_dependents(struct cli *c, const json_t *package)
{
	const json_t *all = json_object_get(package, "dependents"), *one;
	int64_t n = ji(package, "n_dependents", 0);
	bool wide = c->format == FORMAT_WIDE;
	size_t i;

	say(stdout, "needed by %lld package%s%s", (long long)n, n == 1 ? "" : "s", n ? ":" : "");
	json_array_foreach(all, i, one)
	{
		static const struct value why = {SHOWN_NAMES, "why"};
		AUTO(free_cstr) char *words = value_text(c, &why, one);

		if (i == DEPENDENTS_SHOWN && !wide)
			break;
		say(stdout, "  %s (%s)", js(one, "package"), words ? words : "");
	}
	if (!wide && n > DEPENDENTS_SHOWN)
		say(stdout, "  and %lld more; -o wide shows them", (long long)n - DEPENDENTS_SHOWN);
	return EXIT_OK;
}

const struct view package_view = {package_facts, N_OF(package_facts), show_dependents};

static void add_count(struct buf *b, const json_t *change, const char *name, const char *word)
{
	int64_t n = ji(change, name, 0);

	if (n)
		buf_printf(b, "%s%lld %s", b->n ? ", " : "", (long long)n, word);
}

void graph_tell(struct cli *c, json_t *graph)
{
	static const char *const words[][2] = {{"added", "added"}, {"replaced", "replaced"},
	    {"removed", "removed"}, {"marked", "marked"}, {"same", "as they were"},
	    {"older", "older than what is there"}};
	AUTO(buf_release) struct buf b = {0};

	if (wants_machine(c)) {
		print_json(c, graph);
		return;
	}
	for (size_t i = 0; i < N_OF(words); i++)
		add_count(&b, json_object_get(graph, "change"), words[i][0], words[i][1]);
	say(stdout, "graph %s: %s; version %lld", js(graph, "name"), b.n ? b.p : "nothing changed",
	    (long long)ji(graph, "version", 0));
}
