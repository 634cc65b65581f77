/* SPDX-License-Identifier: Apache-2.0 */
/* A server that does as the test says: takes one worker's link, remembers what it reports. */
#ifndef TEST_FAKE_SERVER_H
#define TEST_FAKE_SERVER_H

#include <sys/types.h>

#include "net/link/link.h"
#include "net/loop/loop.h"
#include "wire/link/link.h"
#include "worker/worker.h"

struct fake {
	struct loop *loop;
	struct loop_timer *timeout;
	struct link_listener *listener;
	struct link *link;
	struct arena arena; /* everything remembered */
	struct id_space ids;
	/* how to behave */
	bool ack_ends, ack_output, answer_hello, ack_beats, send_checks;
	struct timeouts timeouts;
	struct link_news news; /* what it thinks of the worker; a good check makes it healthy */
	uint64_t notify_seq, last_run, last_check;
	/* what was heard */
	bool knocked; /* on this link, and no hello since */
	unsigned char key[LINK_KEY_BYTES];
	int n_hellos, n_beats, n_checked, n_notified;
	bool leaving;
	struct link_beat beat; /* the last one */
	struct link_checked checked;
	struct link_notified notified;
	struct link_hello *hello; /* the last one */
	struct link_ended *ends;
	size_t n_ends, cap_ends;
	struct link_started *starts;
	size_t n_starts, cap_starts;
	struct link_health *healths;
	size_t n_healths, cap_healths;
	struct buf output[N_STREAMS]; /* of all chunks, pieced together */
	int64_t most_output;          /* in one frame */
	bool timed_out;
	/* the worker under test */
	pid_t worker;
	char address[64], state_dir[64];
};

void fake_open(struct fake *f);
void fake_close(struct fake *f);
void fake_worker(
    struct fake *f, struct worker_options o); /* fills in address and state directory */
int fake_wait_worker(struct fake *f);         /* its exit code; -signal */

/* Runs the loop until the condition holds; fails the test after twenty seconds. */
typedef bool fake_condition(struct fake *f, long n);
void fake_until(struct fake *f, fake_condition *condition, long n);
bool has_hellos(struct fake *f, long n);
bool has_beats(struct fake *f, long n);
bool has_ends(struct fake *f, long n);
bool has_starts(struct fake *f, long n);
bool has_output(struct fake *f, long bytes);
bool is_leaving(struct fake *f, long n);
bool has_checked(struct fake *f, long n);
bool has_notified(struct fake *f, long n);
bool is_in_state(struct fake *f, long state); /* by its own last beat */

void fake_run(struct fake *f, struct link_run r); /* with defaults for what is missing */
void fake_kill(struct fake *f, rid task, int64_t token, bool forget);
void fake_ack(struct fake *f, rid task, int64_t token);
void fake_check(struct fake *f);
void fake_notify(struct fake *f, struct run_ref *refs, size_t n); /* with the next number */
void fake_refuse(struct fake *f, bool die, bool restart);
void fake_drop_link(struct fake *f);
struct link_fares *fake_fares(struct fake *f, rid task); /* as said last; NULL: never */
struct link_ended *fake_end(struct fake *f, rid task);   /* the last one of that task */

#endif
