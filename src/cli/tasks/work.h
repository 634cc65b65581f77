/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands about tasks share: filters, arrays, exit codes, progress, following output. */
#ifndef CLI_WORK_H
#define CLI_WORK_H

#include "cli/frame/cli.h"

/* Filters: the options of filter_options (and --failed where there is one). */
bool filter_given(const struct cli *c);
int filter_url(struct cli *c, struct buf *url);
int filter_json(struct cli *c, json_t **ret_filter);

/* "1-100", "0-90:10", "5"; both ends belong to it. A range may run downwards. */
struct range {
	int64_t from, to, step; /* step > 0 */
};
#define RANGE_ITEMS_MAX 100000000
int range_parse(const char *text, struct range *ret_range, struct problem *ret_problem);
/* How many items it has, and the i-th. */
int64_t range_count(const struct range *r);
int64_t range_at(const struct range *r, int64_t i);

/* A task's JSON with places for the item. */
struct pattern {
	struct buf text;
	size_t *cuts; /* offsets in text where the item goes, rising */
	size_t n_cuts, cap;
};
/*
 * Makes a pattern of a task: every "{}" in its strings is a place. When its command has none, the
 * item becomes the last argument.
 */
void pattern_init(struct pattern *p, json_t *task);
void pattern_release(struct pattern *p);
/* Appends one line: the task for this item. False when the item is not UTF-8. */
bool pattern_add(const struct pattern *p, struct str item, struct buf *out);

/* A whole file, or standard input ("-"), without the last line's end. */
int input_read(struct cli *c, const char *path, size_t max, struct buf *ret_text);

/* The task that the options of task_options and the command describe; the command is what follows
   the first `n_names` arguments. */
int task_from_options(struct cli *c, size_t n_names, bool needs_command, json_t **ret_task);
/* The same, put over `task`. `changes`: "none" and KEY= take something away, the rest stays. */
int task_put_options(struct cli *c, size_t n_names, bool changes, json_t *task);
bool task_given(const struct cli *c, size_t n_names); /* any of them */

/* Where the task runs: as named (a relative path is below this directory), or where we are, on this
   machine only. Says so where a program with a relative path will not be found. */
int directory_put(struct cli *c, const char *given, json_t *task);
void directory_put_here(struct cli *c, bool is_pattern, json_t *task);
void directory_warn(struct cli *c, const json_t *task); /* of a task that comes later */

/* The command's standard input, from --stdin, or `unasked` from our own. */
int stdin_put(struct cli *c, bool unasked, json_t *task);

/* The options of process_options, into the member `run` of a task's or a queue's JSON. */
bool run_given(const struct cli *c);
/* Over what was there, or over --run; `old` may be NULL. "none" takes a setting back. */
int run_from_options(struct cli *c, const json_t *old, json_t *body);

/* The exit code that mirrors an ended task: see docs in help ("Exit status"). */
int task_exit_code(const json_t *task);
/* What a task comes from, and which part of it; NULL: somebody submitted it. */
char *task_origin(const struct cli *c, const json_t *task);
/* "succeeded on w1 in 3.0s", "failed (exit 3) …": the end of one task in words. */
void task_outcome(const json_t *task, struct buf *out);

/* Progress of many. */
struct progress {
	int64_t begin_ms, drawn_ms, sampled_ms;
	int64_t begin_done, sampled_done;
	double per_s; /* smoothed; 0: not known yet */
	bool drawn;
};
struct counts {
	int64_t total, done, failed, running;
};
void counts_from_summary(const json_t *summary, struct counts *ret_counts);
/* Takes a sample and updates the speed. Pure: the caller says the time. */
void progress_sample(struct progress *p, const struct counts *n, int64_t now_ms);
/* One line, cut to `width`: bar, amounts, rate, ETA, failures. */
void progress_line(
    const struct progress *p, const struct counts *n, int width, bool utf8, struct buf *out);
/* Draws it on stderr: in place on a terminal, a line every few seconds otherwise. */
void progress_show(struct progress *p, struct cli *c, const struct counts *n, bool last);

/* Waits for everything under this path of summaries ("/v1/tasks/summary?batch=…"). */
int wait_summary(struct cli *c, const char *path, int64_t timeout_ms);
/* Waits for one task; *ret_task is as it ended. ERR_TIMEOUT when that took too long. */
int wait_task(struct cli *c, const char *id, int64_t timeout_ms, json_t **ret_task);

/* Output, followed over broken connections. */
struct follower {
	struct cli *c;
	const char *id, *stream, *attempt; /* attempt may be NULL */
	bool follow;
	int fd;
	int64_t offset;
	struct call *call;
	int tries;
	int64_t retry_at_ms, failing_since_ms;
	bool done;
	int result; /* when done */
};
/* Moves it on; never blocks. Call client_pump between. */
void follower_step(struct follower *f);

/* Bulk submission: lines of JSON, split into requests of one batch. */
struct bulk;
struct bulk *bulk_new(struct cli *c, bool atomic, bool keep_ids);
void bulk_free(struct bulk *b);
/* The buffer that the next line (with its newline) is appended to; then bulk_line. */
struct buf *bulk_buffer(struct bulk *b);
/* One line was appended. Sends when enough have gathered. */
int bulk_line(struct bulk *b);
int bulk_finish(struct bulk *b);
/* {"batch","accepted","duplicates","rejected","ids","errors"}; borrowed. */
json_t *bulk_result(const struct bulk *b);

#endif
