/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands about tasks share: filters, arrays, exit codes, progress, following output. */
#ifndef CLI_WORK_H
#define CLI_WORK_H

#include "cli/frame/cli.h"

/* Filters: the options of filter_options (and --failed where there is one). A plain one is sent as
 * it was typed; what the others name is found first. */
bool filter_is_plain(const struct option_def *o);
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

/* Ranges with commas between them: "1,3,7", "1-9:2,20". How many may run at once may follow,
 * "1-9%4"; it is looked at with array_limit(). */
struct array_items {
	struct range *all;
	size_t n, cap;
};
int array_parse(const char *text, struct array_items *ret_items, struct problem *ret_problem);
void array_release(struct array_items *r);
bool array_is_stdin(const char *text); /* "-", "-%4" */
/* 0: it has none. */
int array_limit(const char *text, int64_t *ret_limit, struct problem *ret_problem);
/* The limit of --array as a throttle in the task's need, with a key of this call's own. */
int array_put_throttle(struct cli *c, json_t *task);

/* A task's JSON with places for the item. */
struct pattern {
	struct buf text;
	struct cut {
		size_t at; /* offset in text, rising */
		bool is_index;
	} * cuts; /* where the item goes, or its index */
	size_t n_cuts, cap;
};
/*
 * Makes a pattern of a task: every "{}" in its strings is a place. When its command has none, the
 * item becomes the last argument. The index goes into the command's environment.
 */
#define ARRAY_INDEX "REEVE_ARRAY_INDEX"
void pattern_init(struct pattern *p, json_t *task);
void pattern_release(struct pattern *p);
/* Appends one line: the task for this item. False when the item is not UTF-8. */
bool pattern_add(const struct pattern *p, struct str item, int64_t index, struct buf *out);

/* A whole file, or standard input ("-"), without the last line's end. */
int input_read(struct cli *c, const char *path, size_t max, struct buf *ret_text);

/* `submit -`: the script becomes the command; *ret_input is what it reads, NULL: nothing. */
bool script_given(const struct cli *c);
int script_take(struct cli *c, const char **ret_input);

/* The task that the options of task_options and the command describe; the command is what follows
   the first `n_names` arguments. */
int task_from_options(struct cli *c, size_t n_names, bool needs_command, json_t **ret_task);
/* The same, put over `task`. `changes`: "none" and KEY= take something away, the rest stays. */
int task_put_options(struct cli *c, size_t n_names, bool changes, json_t *task);
bool task_given(const struct cli *c, size_t n_names); /* any of them */
/* Only what is run, and in what: the command, --action, --params, --env, --cwd and what
 * process_options say of it. */
int content_put_options(struct cli *c, size_t n_names, bool changes, json_t *task);
/* Refuses one that runs nothing. */
int content_missing(struct cli *c, const json_t *task, const char *before);

/* Where the task runs: as named (a relative path is below this directory), or where we are, on this
   machine only. Says so where a program with a relative path will not be found. */
int directory_put(struct cli *c, const char *given, json_t *task);
void directory_put_here(struct cli *c, bool is_pattern, json_t *task);
void directory_warn(struct cli *c, const json_t *task); /* of a task that comes later */
const char *relative_program(const json_t *task);       /* NULL: it is not one */

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

struct counts {
	int64_t total, done, failed, running, cancelled; /* failed as in a batch: none cancelled */
};
/* Progress of many. */
struct progress {
	int64_t begin_ms, drawn_ms, sampled_ms, now_ms;
	int64_t begin_done, sampled_done;
	double per_s; /* smoothed; 0: not known yet */
	bool drawn;
	struct counts shown; /* by the last line, where each has its own */
};
void counts_from_summary(const json_t *summary, struct counts *ret_counts);
/* Takes a sample and updates the speed. Pure: the caller says the time. */
void progress_sample(struct progress *p, const struct counts *n, int64_t now_ms);
void progress_bar(const struct counts *n, int cells, bool utf8, struct buf *out);
/* One line, cut to `width`: bar, amounts, rate, ETA, failures. */
void progress_line(
    const struct progress *p, const struct counts *n, int width, bool utf8, struct buf *out);
/* Draws it on stderr: in place on a terminal, a line every few seconds otherwise. */
void progress_show(struct progress *p, struct cli *c, const struct counts *n, bool last);

/* Waits for everything under this path of summaries ("/v1/tasks/summary?batch=…"). */
int wait_summary(struct cli *c, const char *path, int64_t timeout_ms);
/* Between two looks, of which the last began then: rests. ERR_TIMEOUT: it is over, or interrupted.
 */
int wait_goes_on(struct cli *c, const struct progress *p, int64_t begin_ms, int64_t deadline);
/* The exit code of `submit --wait`, of what a wait returned. */
int waited(struct cli *c, int r);
/* Waits for one task; *ret_task is as it ended. ERR_TIMEOUT when that took too long. */
int wait_task(struct cli *c, const char *id, int64_t timeout_ms, json_t **ret_task);

/* Lines, each with the name of its task before it: whole ones, or pieces of very long ones. */
#define LOG_LINE_MAX 65536
struct log_lines {
	const char *prefix;
	struct buf part; /* of a line that has not ended */
	struct buf out;  /* to be written */
};
void log_lines_release(struct log_lines *l);

/* Output, followed over broken connections. */
struct follower {
	struct cli *c;
	const char *id, *stream;
	const char *attempt, *tail; /* NULL: the last one; all of it */
	struct log_lines *lines;    /* NULL: bytes as they are */
	bool follow;
	int write_error; /* of errno; EPIPE: nobody reads what we write; 0: none */
	int fd;
	int64_t offset;
	struct call *call;
	int tries;
	int64_t retry_at_ms, failing_since_ms;
	bool done;
	int result; /* when done */
};
/* Moves both streams on; false when both have ended, and there is nothing to wait for any more. */
bool followers_step(struct follower streams[2], bool in_turn);

/* Bulk submission: lines of JSON, split into requests of one batch. */
struct bulk;
struct bulk *bulk_new(struct cli *c, bool atomic, bool keep_ids);
/* The batch that is made gets this name; or the lines join that one. */
void bulk_name(struct bulk *b, const char *name);
void bulk_join(struct bulk *b, const char *batch);
void bulk_free(struct bulk *b);
/* The buffer that the next line (with its newline) is appended to; then bulk_line. */
struct buf *bulk_buffer(struct bulk *b);
/* One line was appended. Sends when enough have gathered. */
int bulk_line(struct bulk *b);
int bulk_finish(struct bulk *b);
/* {"batch","accepted","duplicates","rejected","ids","errors"}; borrowed. */
json_t *bulk_result(const struct bulk *b);

/* What something waits for, as the server explains it. */
void why_show(struct cli *c, json_t *why);
int why_task(struct cli *c, const char *id);

/* history.c: every state of a task. */
int task_history_show(struct cli *c, const char *id);

#endif
