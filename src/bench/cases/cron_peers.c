/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other side of the case cron: a program for Node that asks npm's croner and cron-parser
 * (test/bench/cron-peers), once for every pattern. It is told the pattern and the start times in
 * a file and leaves its rates and answers in another; where an answer is not ours, we say so.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "bench/cases/cron.h"

#define PROGRAM "run.mjs"

static const char *const peer_names[] = {"croner", "cron-parser"};

static int no_peers(struct bench *b, const char *missing)
{
	problem_set(
	    &b->problem, ERR_NOT_FOUND, "--peers %.200s: there is no %s", b->peers, missing);
	return problem_hint(&b->problem,
	    "test/bench/cron-peers/install DIR of the source tree puts all of it there");
}

json_t *cron_peers_versions(struct bench *b)
{
	AUTO(free_cstr) char *program = xasprintf("%s/" PROGRAM, b->peers);
	json_t *versions = json_object();
	struct stat st;
	int r = stat(program, &st) < 0 ? no_peers(b, PROGRAM) : 0;

	for (size_t i = 0; i < 2 && r == 0; i++) {
		AUTO(free_cstr)
		char *path = xasprintf("%s/node_modules/%s/package.json", b->peers, peer_names[i]);
		json_t *package = json_load_file(path, 0, NULL);
		json_t *version = json_object_get(package, "version");

		if (version)
			json_object_set(versions, peer_names[i], version);
		else
			r = no_peers(b, path + strlen(b->peers) + 1);
		json_decref(package);
	}
	if (r == 0)
		return versions;
	json_decref(versions);
	return NULL;
}

static int write_question(struct bench *b, const struct cron_asked *a, const char *path)
{
	const struct cron_pattern *p = a->pattern;
	json_t *starts = json_array(), *all;
	int r;

	for (size_t i = 0; i < a->n; i++)
		json_array_append_new(starts, json_integer(a->starts[i]));
	all =
	    json_pack("{s:{s:s?,s:s?},s:s,s:o,s:I}", "patterns", "croner", p->croner, "cron-parser",
	        p->cron_parser, "zone", p->zone, "starts", starts, "until", (json_int_t)a->until);
	r = json_dump_file(all, path, 0);
	json_decref(all);
	return r == 0 ? 0 : problem_set(&b->problem, ERR_IO, "%s: %s", path, strerror(errno));
}

static int ask(struct bench *b, const char *question, const char *answer)
{
	AUTO(free_cstr)
	char *program = xasprintf("%s/" PROGRAM, b->peers),
	     *log = xasprintf("%s/peers.log", b->dir);
	const char *argv[] = {"node", program, question, answer, NULL};
	pid_t pid = child_start_other(argv, log, &b->problem);

	if (pid < 0)
		return pid;
	if (child_wait(&pid, b->limit_ms) == 0)
		return 0;
	b->keep = true;
	problem_set(&b->problem, ERR_IO, "node %.200s failed or took too long", program);
	return problem_hint(&b->problem, "is node installed? What it said is in %.200s", log);
}

static int64_t time_of(const json_t *v)
{
	return json_is_integer(v) ? (int64_t)json_integer_value(v) : CRON_NO_TIME;
}

static void add_example(json_t *to, int64_t from, int64_t ours, int64_t theirs)
{
	if (!json_object_get(to, "example"))
		json_object_set_new(to, "example",
		    json_pack("{s:I,s:o,s:o}", "after", (json_int_t)from, "ours",
		        ours == CRON_NO_TIME ? json_null() : json_integer(ours), "theirs",
		        theirs == CRON_NO_TIME ? json_null() : json_integer(theirs)));
}

/* Peers may not have come to the end of the list: they are slower. */
static size_t fresh_differences(const struct cron_asked *a, const json_t *theirs, json_t *to)
{
	size_t n = 0, differ = 0;

	for (; n < a->n && n < json_array_size(theirs); n++) {
		int64_t time = time_of(json_array_get(theirs, n));

		if (time != a->fresh[n]) {
			add_example(to, a->starts[n], a->fresh[n], time);
			differ++;
		}
	}
	json_object_set_new(to, "answers", json_integer((json_int_t)n));
	return differ;
}

/* Two rising lists, up to where the shorter one ends: times that only one of them has. */
static size_t walk_differences(const struct cron_asked *a, const json_t *theirs, json_t *to)
{
	size_t i = 0, k = 0, differ = 0;

	while (i < a->n_walk && k < json_array_size(theirs)) {
		int64_t ours = a->walk[i], time = time_of(json_array_get(theirs, k));

		i += ours <= time;
		k += time <= ours;
		if (ours == time)
			continue;
		add_example(to, i ? a->walk[i - 1] : a->starts[0], ours, time);
		differ++;
	}
	json_object_set_new(to, "walk_answers", json_integer((json_int_t)k));
	return differ;
}

static json_t *compare(const struct cron_asked *a, const json_t *peer)
{
	json_t *to = json_object();

	json_object_set_new(to, "fresh_per_s", figure(figure_get(peer, "fresh_per_s")));
	json_object_set_new(to, "walking_per_s", figure(figure_get(peer, "walking_per_s")));
	json_object_set_new(to, "differ",
	    json_integer((json_int_t)fresh_differences(a, json_object_get(peer, "fresh"), to)));
	json_object_set_new(to, "walk_differ",
	    json_integer((json_int_t)walk_differences(a, json_object_get(peer, "walk"), to)));
	return to;
}

static double faster(const json_t *answers, const char *rate)
{
	double best = 0;

	for (size_t i = 0; i < 2; i++) {
		double x = figure_get(json_object_get(answers, peer_names[i]), rate);

		best = x > best ? x : best;
	}
	return best;
}

static void add_ratio(const struct cron_asked *a, const json_t *answers, json_t *to)
{
	double fresh = a->fresh_per_s / faster(answers, "fresh_per_s");
	double walking = a->walking_per_s / faster(answers, "walking_per_s");

	json_object_set_new(to, "ratio_fresh", figure(fresh));
	json_object_set_new(to, "ratio_walking", figure(walking));
	json_object_set_new(to, "ratio", figure(fresh < walking ? fresh : walking));
}

int cron_peers_measure(struct bench *b, const struct cron_asked *a, json_t *to)
{
	AUTO(free_cstr)
	char *question = xasprintf("%s/question.json", b->dir),
	     *answer = xasprintf("%s/answer.json", b->dir);
	json_t *answers;
	int r = write_question(b, a, question);

	if (r == 0)
		r = ask(b, question, answer);
	if (r < 0)
		return r;
	answers = json_load_file(answer, 0, NULL);
	if (!answers)
		return problem_set(&b->problem, ERR_PROTOCOL, "%s holds no JSON", answer);
	for (size_t i = 0; i < 2; i++) {
		const json_t *peer = json_object_get(answers, peer_names[i]);

		json_object_set_new(
		    to, peer_names[i], json_is_object(peer) ? compare(a, peer) : json_null());
	}
	add_ratio(a, answers, to);
	json_decref(answers);
	return 0;
}
