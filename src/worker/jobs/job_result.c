/* SPDX-License-Identifier: Apache-2.0 */
/* What a process left beside its exit code: an outcome on descriptor 3, a status line, a result. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "exec/sandbox/sandbox.h"
#include "model/limits.h"
#include "worker/internal.h"

#define OUTCOME_BYTES 65536

/* Of fixed size, so that it can't grow. */
int result_file(void)
{
	int fd = memfd_create("reeve-result", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && (ftruncate(fd, OUTCOME_BYTES) < 0 ||
	                   fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* The last `size` bytes, without the NULs that a file of fixed size ends with. */
static struct str read_tail(int fd, char *text, size_t size)
{
	struct stat st;
	off_t at;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return STR_NULL;
	at = st.st_size > (off_t)size ? st.st_size - (off_t)size : 0;
	n = pread(fd, text, size, at);
	while (n > 0 && text[n - 1] == 0)
		n--;
	return (struct str){text, n > 0 ? (size_t)n : 0};
}

static struct str keep(struct buf *text, struct str s)
{
	size_t at = text->n;

	buf_add_str(text, s);
	return (struct str){text->p + at, s.n};
}

/* {"status": N, "reason": "…"} of a plugin or an action. */
static void read_outcome(struct str text, struct agent_exit *x, struct buf *kept)
{
	json_t *j = json_loadb(text.p, text.n, 0, NULL);
	json_t *number = json_object_get(j, "status");
	json_int_t status = json_integer_value(number);
	json_t *reason = json_object_get(j, "reason");

	if (json_is_integer(number) && (status < 1 || status > PLUGIN_STATUS_MAX)) {
		x->status = TASK_FAILED;
		x->reason = STR("the plugin wrote a status that is not from 1 to 1000000");
	} else if (status < 1 || status > PLUGIN_STATUS_MAX) {
		x->status = TASK_FAILED;
		x->reason = STR("the plugin wrote a result that is not {\"status\": N}");
	} else {
		x->status = (int32_t)status;
		if (json_is_string(reason))
			x->reason = keep(kept,
			    (struct str){json_string_value(reason), json_string_length(reason)});
	}
	json_decref(j);
}

/* Bistro's words, and what they come to here. */
static const struct status_word {
	const char *word;
	int32_t status;
	bool permanent;
	const char *reason;
} status_words[] = {
    {"done", TASK_SUCCEEDED, false, NULL},
    {"incomplete", TASK_FAILED, false, "incomplete: it wants to run again"},
    {"incomplete_backoff", TASK_FAILED, false, "incomplete: it wants to run again later"},
    {"backoff", TASK_FAILED, false, "backoff: it wants to be tried again later"},
    {"error_backoff", TASK_FAILED, false, "backoff: it wants to be tried again later"},
    {"failed", TASK_FAILED, true, "failed for good, as it says itself"},
};

static bool apply_word(struct str word, struct agent_exit *x)
{
	for (size_t i = 0; i < sizeof status_words / sizeof status_words[0]; i++) {
		const struct status_word *s = &status_words[i];

		if (!str_is(word, s->word))
			continue;
		x->status = s->status;
		x->permanent = s->permanent;
		x->reason = str_of(s->reason);
		return true;
	}
	return false;
}

#define NOT_A_STATUS "its status line is not one of done, incomplete, backoff, failed"

/* The task's result. Written again the data may be longer than it was: of too much only so much is
 * kept that the brain makes a failure of it. */
static void keep_data(const json_t *data, struct agent_exit *x, struct buf *kept)
{
	AUTO(free_cstr) char *text = json_dumps(data, JSON_COMPACT);

	if (text)
		x->result = keep(kept, (struct str){text, strnlen(text, RESULT_FILE_MAX + 1)});
}

/* {"result": "done", "data": {…}}: what is wrong with it; NULL: nothing. */
static const char *apply_json(struct str line, struct agent_exit *x, struct buf *kept)
{
	json_t *j = json_loadb(line.p, line.n, 0, NULL), *data = json_object_get(j, "data");
	const char *word = json_string_value(json_object_get(j, "result")), *wrong = NULL;

	if (data && !json_is_object(data))
		wrong = "the data of its status line is not an object";
	else if (!word || !apply_word(str_of(word), x))
		wrong = NOT_A_STATUS;
	else if (data)
		keep_data(data, x, kept);
	json_decref(j);
	return wrong;
}

static struct str last_line(struct str text)
{
	struct str line, last = STR_NULL;

	while (str_next(&text, '\n', &line)) {
		while (line.n && strchr(" \t\r", line.p[line.n - 1]))
			line.n--;
		if (line.n)
			last = line;
	}
	return last;
}

static void read_status(struct str text, struct agent_exit *x, struct buf *kept)
{
	struct str line = last_line(text);
	const char *wrong = NULL;

	if (!line.n)
		wrong = "it wrote no status line to $REEVE_STATUS_FILE";
	else if (line.p[0] == '{')
		wrong = apply_json(line, x, kept);
	else if (!apply_word(line, x))
		wrong = NOT_A_STATUS;
	if (!wrong)
		return;
	x->status = TASK_FAILED;
	x->reason = str_of(wrong);
}

/* One byte more than may be: the brain makes a failure of that. */
static void read_result_file(int fd, struct agent_exit *x, struct buf *kept)
{
	size_t at = kept->n;
	ssize_t n;

	if (fd < 0) {
		x->status = TASK_FAILED;
		x->reason =
		    STR("failed to fetch result: there is no such file, or it is not a plain one");
		return;
	}
	buf_reserve(kept, RESULT_FILE_MAX + 1);
	n = pread(fd, kept->p + at, RESULT_FILE_MAX + 1, 0);
	if (n <= 0)
		return;
	kept->n += (size_t)n;
	x->result = (struct str){kept->p + at, (size_t)n};
}

/* Codes that mean more than others must come through where the queue listens to them. */
static bool is_special(int code)
{
	return code == 99 || code == 100 || code == 111;
}

void job_result(struct job *j, struct agent_exit *x, struct buf *kept)
{
	AUTO(free_cstr) char *text = xmalloc(OUTCOME_BYTES);
	struct str outcome = STR_NULL;

	buf_reserve(kept, 2 * OUTCOME_BYTES + RESULT_FILE_MAX); /* pointers into it stay good */
	if (j->sandbox_fd >= 0 && !sandbox_ran(j->sandbox_fd)) {
		x->kind = EXIT_ERROR;
		x->exit_code = 126;
		x->reason =
		    STR("the sandbox could not be made or the command not executed in it: its "
		        "standard error says why");
		return;
	}
	if (x->kind == EXIT_SIGNAL)
		return;
	if (j->result_fd >= 0)
		outcome = read_tail(j->result_fd, text, OUTCOME_BYTES);
	if (outcome.n && !is_special(x->exit_code))
		read_outcome(outcome, x, kept);
	if (j->status_fd >= 0 && x->exit_code == 0)
		read_status(read_tail(j->status_fd, text, OUTCOME_BYTES), x, kept);
	if (j->settings->result_file.n && x->exit_code == 0 && x->status <= TASK_SUCCEEDED)
		read_result_file(j->kept.result_fd, x, kept);
}
