/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streamed input on its way into a process's pipe: one part, which the brain gives us when the one
 * before it is written. Nobody waits for the process: what it does not read stays here.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "worker/internal.h"

#define PIPE_BYTES (256 << 10) /* a wish: the process finds much at once */

struct job_input {
	struct loop_watch *watch;
	struct buf bytes;
	size_t at;
	bool is_last;
};

void job_input_release(struct job *j)
{
	if (!j->input)
		return;
	loop_watch_free(j->input->watch);
	buf_release(&j->input->bytes);
	free(j->input);
	j->input = NULL;
	process_close(&j->kept.in);
}

static void taken(struct worker *w, rid task, int64_t token, bool closed)
{
	worker_feed(w,
	    (struct agent_event){
	        .kind = AE_INPUT_TAKEN, .task = task, .token = token, .input_is_closed = closed});
}

/* The job may be gone afterwards. */
static void write_some(struct job *j)
{
	struct job_input *in = j->input;
	bool closed = false;

	while (in->at < in->bytes.n && !closed) {
		ssize_t n = write(j->kept.in, in->bytes.p + in->at, in->bytes.n - in->at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			loop_watch_set(in->watch, false, true);
			return;
		}
		closed = n < 0; /* nobody reads it: the rest is not wanted */
		in->at += n > 0 ? (size_t)n : 0;
	}
	loop_watch_set(in->watch, false, false);
	buf_reset(&in->bytes);
	in->at = 0;
	if (closed || in->is_last)
		job_input_release(j);
	taken(j->w, j->task, j->token, closed);
}

static void on_writable(int fd, bool readable, bool writable, void *arg)
{
	write_some(arg);
}

void job_input_open(struct job *j)
{
	if (j->kept.in < 0)
		return;
	fcntl(j->kept.in, F_SETPIPE_SZ, PIPE_BYTES);
	fcntl(j->kept.in, F_SETFL, O_WRONLY | O_NONBLOCK);
	j->input = xcalloc(1, sizeof *j->input);
	j->input->watch = loop_watch_new(j->w->loop, j->kept.in, on_writable, j);
	loop_watch_set(j->input->watch, false, false);
}

void job_input_write(struct worker *w, const struct agent_effect *e)
{
	struct job *j = job_find(w, e->task, e->token);

	if (!j)
		return;  /* the attempt's end is on its way to the brain */
	if (!j->input) { /* a plugin's: what that reads is something else */
		taken(w, e->task, e->token, true);
		return;
	}
	buf_add_str(&j->input->bytes, e->input.data);
	j->input->is_last = e->input.end;
	write_some(j);
}
