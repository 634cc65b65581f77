/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for a group's end, and what that amounts to. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/frame/interrupt.h"
#include "cli/group/group.h"
#include "cli/group/live.h"
#include "cli/output/output.h"
#include "cli/reach/target.h"
#include "cli/tasks/work.h"

#define LULL_MS 3000

struct counts group_counts_of(const json_t *group)
{
	const json_t *n = json_object_get(group, "counts");
	int64_t failed = ji(n, "failed", 0) + ji(n, "lost", 0) + ji(n, "cancelled", 0);

	return (struct counts){.total = ji(group, "jobs", 0),
	    .done = ji(n, "built", 0) + ji(n, "skipped", 0) + failed,
	    .failed = failed};
}

void group_outcome(const json_t *group, struct buf *out)
{
	static const char *const names[] = {"built", "failed", "lost", "skipped", "cancelled"};
	const json_t *counts = json_object_get(group, "counts");
	int64_t from = jtime(group, "dispatched"), to = jtime(group, "ended");
	char text[TIME_TEXT_MAX];

	buf_printf(out, "group %s %s", js(group, "name"), js(group, "state"));
	for (size_t i = 0, some = 0; i < N_OF(names); i++)
		if (ji(counts, names[i], 0))
			buf_printf(out, "%s%s %s", some++ ? ", " : ": ",
			    human_count(ji(counts, names[i], 0), text), names[i]);
	if (from && to >= from)
		buf_printf(out, ", in %s", time_human_ms(to - from, text));
	if (*js(group, "reason"))
		buf_printf(out, "; %s", js(group, "reason"));
}

/* What is said while nothing moves. */
struct lull {
	struct counts counts;
	int64_t since_ms; /* nothing has moved, or it was asked why */
	char *said;
};

static void lull_release(struct lull *l)
{
	free(l->said);
}

/* Asks why nothing moves, and says so when it is another reason. */
static int lull_look(
    struct lull *l, struct cli *c, const json_t *group, const struct counts *n, bool drawn)
{
	AUTO(buf_release) struct buf words = {0};
	int64_t now = clock_mono_ms();
	int r;

	if (!l->since_ms || memcmp(&l->counts, n, sizeof *n) != 0) {
		l->counts = *n;
		l->since_ms = now;
		return 0;
	}
	if (now - l->since_ms < LULL_MS)
		return 0;
	l->since_ms = now;
	r = group_waits_for(c, group, &words);
	if (r < 0 || !words.n || (l->said && !strcmp(l->said, words.p)))
		return r;
	cli_note(c, "%swaiting: %s", drawn ? "\r\033[K" : "", words.p);
	free(l->said);
	l->said = buf_take(&words);
	return 0;
}

int group_wait(struct cli *c, const char *id, int64_t timeout_ms)
{
	AUTO(lull_release) struct lull lull = {0};
	int64_t deadline = timeout_ms < 0 ? INT64_MAX : clock_mono_ms() + timeout_ms;
	struct progress progress = {.begin_ms = clock_mono_ms()};

	interrupt_catch();
	for (;;) {
		AUTO(json_drop) json_t *group = NULL;
		AUTO(buf_release) struct buf words = {0};
		int64_t begin = clock_mono_ms();
		int r = group_fetch(c, id, &group);
		struct counts n;
		bool over;

		if (r < 0)
			return r;
		n = group_counts_of(group);
		over = group_is_ended(group_state_of(js(group, "state")));
		if (!over || progress.sampled_ms) /* one that is over already has no pace */
			progress_show(&progress, c, &n, over);
		if (over) {
			group_outcome(group, &words);
			cli_note(
			    c, "%s %s", state_glyph(js(group, "state"), c->term.utf8), words.p);
			return group_exit_code(c, group);
		}
		r = lull_look(&lull, c, group, &n, progress.drawn);
		if (r < 0)
			return r;
		if (wait_goes_on(c, &progress, begin, deadline) < 0)
			return c->problem.code;
	}
}
