/* SPDX-License-Identifier: Apache-2.0 */
/* Progress of many tasks: speed, time left, failures. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/output/output.h"
#include "cli/tasks/work.h"

#define BAR_MAX 30
#define PLAIN_EVERY_MS 5000
#define SETTLE_MS 1000   /* before this nothing can be said */
#define SMOOTH_MS 5000.0 /* the speed follows the last few seconds */

void counts_from_summary(const json_t *summary, struct counts *ret_counts)
{
	const json_t *states = json_object_get(summary, "states");

	*ret_counts = (struct counts){
	    .total = ji(summary, "total", 0),
	    .done = ji(summary, "done", 0),
	    .running = ji(states, "running", 0) + ji(states, "claimed", 0),
	    .failed =
	        ji(states, "failed", 0) + ji(states, "terminated", 0) + ji(states, "orphaned", 0),
	    .cancelled = ji(states, "cancelled", 0),
	};
}

void progress_sample(struct progress *p, const struct counts *n, int64_t now_ms)
{
	int64_t span = now_ms - p->sampled_ms;
	double speed, weight;

	p->now_ms = now_ms;
	if (p->sampled_ms == 0) {
		p->begin_ms = p->begin_ms ? p->begin_ms : now_ms;
		p->sampled_ms = now_ms;
		p->begin_done = p->sampled_done = n->done;
		return;
	}
	if (span < 100 || now_ms - p->begin_ms < SETTLE_MS)
		return;
	speed = (double)(n->done - p->sampled_done) * 1000 / (double)span;
	if (speed < 0)
		speed = 0;
	/* First the mean of all; tasks end in bursts, and one burst must not be taken for the
	 * speed. */
	weight = 1 - exp(-(double)span / SMOOTH_MS);
	if ((double)(now_ms - p->begin_ms) <= SMOOTH_MS || p->per_s <= 0)
		p->per_s =
		    (double)(n->done - p->begin_done) * 1000 / (double)(now_ms - p->begin_ms);
	else
		p->per_s += weight * (speed - p->per_s);
	p->sampled_ms = now_ms;
	p->sampled_done = n->done;
}

void progress_bar(const struct counts *n, int cells, bool utf8, struct buf *out)
{
	int full = n->total > 0 ? (int)((double)n->done / (double)n->total * cells) : 0;

	buf_add_char(out, utf8 ? '|' : '[');
	for (int i = 0; i < cells; i++)
		buf_add_cstr(out, i < full ? (utf8 ? "█" : "#") : (utf8 ? "░" : "."));
	buf_add_cstr(out, utf8 ? "| " : "] ");
}

/* Whole seconds: more would claim to know too much. */
static const char *eta_text(int64_t ms, char out[TIME_TEXT_MAX])
{
	return ms < 60000 ? human_short(ms + 999, out) : time_human_ms(ms / 1000 * 1000, out);
}

void progress_line(
    const struct progress *p, const struct counts *n, int width, bool utf8, struct buf *out)
{
	AUTO(buf_release) struct buf words = {0};
	char done[TIME_TEXT_MAX], total[TIME_TEXT_MAX], text[TIME_TEXT_MAX];
	int64_t left = eta_ms(n->done, n->total, p->per_s);
	int room;

	buf_printf(&words, "%s/%s", human_count(n->done, done), human_count(n->total, total));
	if (n->total > 0)
		buf_printf(&words, " %d%%", (int)((double)n->done / (double)n->total * 100));
	if (p->per_s > 0)
		buf_printf(&words, "  %s", human_rate(p->per_s, text));
	if (n->done < n->total)
		buf_printf(&words, "  ETA %s", left < 0 ? "?" : eta_text(left, text));
	else
		buf_printf(&words, "  in %s", time_human_ms(p->now_ms - p->begin_ms, text));
	if (n->running > 0)
		buf_printf(&words, "  %s running", human_count(n->running, text));
	if (n->failed > 0)
		buf_printf(&words, "  %s%s failed", utf8 ? "✗ " : "", human_count(n->failed, text));
	if (n->cancelled > 0)
		buf_printf(&words, "  %s cancelled", human_count(n->cancelled, text));
	room = width - (int)text_width(buf_str(&words)) - 3;
	if (room >= 8)
		progress_bar(n, room < BAR_MAX ? room : BAR_MAX, utf8, out);
	text_add_cut(out, buf_str(&words), (size_t)(width > 0 ? width : 1), utf8);
}

void progress_show(struct progress *p, struct cli *c, const struct counts *n, bool last)
{
	AUTO(buf_release) struct buf line = {0};
	int64_t now = clock_mono_ms();

	progress_sample(p, n, now);
	if (c->quiet)
		return;
	if (!c->term.err_tty) {
		if (!last && p->drawn_ms && now - p->drawn_ms < PLAIN_EVERY_MS)
			return;
		if (!p->drawn_ms && !last) { /* short waits stay silent until their end */
			p->drawn_ms = now;
			return;
		}
		p->drawn_ms = now;
		if (!last && memcmp(&p->shown, n, sizeof *n) == 0)
			return;
		p->shown = *n;
		progress_line(p, n, 120, false, &line);
		fprintf(stderr, "%s\n", line.p);
		return;
	}
	progress_line(p, n, term_width(STDERR_FILENO, 80) - 1, c->term.utf8, &line);
	fprintf(stderr, "\r\033[K%s%s", line.p, last ? "\n" : "");
	fflush(stderr);
	p->drawn = !last;
}
