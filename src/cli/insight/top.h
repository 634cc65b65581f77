/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `reeve top`: what is known (top_data.c), what is chosen of it (top_rows.c), how it is drawn
 * (top_view.c), and the loop with its keys (cmd_top.c).
 */
#ifndef CLI_TOP_H
#define CLI_TOP_H

#include "cli/output/output.h"

/* Services have a panel only where there are some. */
enum top_panel { PANEL_QUEUES, PANEL_SERVICES, PANEL_WORKERS, PANEL_TASKS, N_PANELS };

#define SAMPLES 32
#define FILTER_MAX 64

/* Figures of the last looks, oldest first. */
struct trend {
	double v[SAMPLES];
	size_t n;
};
/* A line of blocks, as high as the figures; ASCII where need be. Nothing without figures. */
void trend_line(const struct trend *s, size_t width, bool utf8, struct buf *out);

struct queue_depth {
	char *name;
	struct trend waiting;
	bool seen; /* in the last look */
};

struct top_data {
	struct cli *c;
	struct call *calls[N_PANELS + 1]; /* one look under way; the last is the status */
	json_t *found[N_PANELS + 1];      /* what it has brought so far */
	bool is_busy;
	int result;                       /* of the look; negative: something could not be had */
	json_t *status, *lists[N_PANELS]; /* NULL: not yet */
	struct trend submitted, ended;
	struct queue_depth *depths;
	size_t n_depths, cap_depths;
	int64_t began_ms, took_ms; /* the last look */
	int64_t away_since_ms;     /* 0: it answered */
	bool is_final;             /* the last error does not go away by itself */
};

/* Begins a look; never waits. */
void top_data_begin(struct top_data *d);
bool top_data_is_busy(const struct top_data *d);
/* True when the look is over: there is something new, or the server is away. */
bool top_data_step(struct top_data *d);
void top_data_release(struct top_data *d);
bool top_data_has(const struct top_data *d, enum top_panel p);
const struct trend *top_data_depth(const struct top_data *d, const char *queue);

/* What the user has chosen. */
struct top_view {
	enum top_panel focus;
	size_t first[N_PANELS]; /* row that is shown first */
	size_t page[N_PANELS];  /* rows that were shown last time */
	size_t sort[N_PANELS];
	char filter[FILTER_MAX];
	bool is_typing, is_paused;
};

/* The rows that fit the filter, in order; the caller drops the array. */
json_t *top_rows(const json_t *list, enum top_panel p, const struct top_view *v);
int64_t top_running(const json_t *queue); /* started tasks, or about to be */
const char *top_sort_name(enum top_panel p, size_t sort);
size_t top_sorts(enum top_panel p);
/* Just so many lines; `height` 0: all of it, without choices. */
void top_render(struct top_data *d, struct top_view *v, int width, size_t height, struct buf *out);
/* The last line: the keys, or what is being typed. */
void top_render_keys(
    const struct top_data *d, const struct top_view *v, int width, struct buf *out);

#endif
