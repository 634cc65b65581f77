/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_server.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/world/log.h"
#include "net/link/proof.h"

static void send_message(struct fake *f, const struct link_to_worker *m)
{
	struct arena a = {0};
	struct buf b = {0};

	if (f->link) {
		link_encode_to_worker(m, &a, &b);
		link_send(f->link, buf_str(&b));
	}
	arena_release(&a);
	buf_release(&b);
}

static void on_hello(struct fake *f, struct link_hello *h)
{
	struct link_welcome w = {.worker = 7,
	    .ids = f->ids,
	    .server = 99,
	    .timeouts = f->timeouts,
	    .news = f->news,
	    .notify_seq = f->notify_seq,
	    .maxthreads = -1};

	f->hello = h;
	f->n_hellos++;
	f->last_run = f->beat.number = 0;
	if (!f->answer_hello)
		return;
	send_message(f, &(struct link_to_worker){.welcome = &w});
	if (f->send_checks)
		fake_check(f);
}

static void on_checked(struct fake *f, const struct link_checked *c)
{
	f->n_checked++;
	f->checked = *c;
	if (c->ok) {
		f->news.state = WORKER_HEALTHY;
		f->news.check = c->number;
	}
	send_message(f, &(struct link_to_worker){.has_beat_ack = true, .beat_ack.news = f->news});
}

static void on_beat(struct fake *f, const struct link_beat *b)
{
	f->n_beats++;
	f->beat = *b;
	f->leaving |= b->leaving;
	if (f->ack_beats)
		send_message(f, &(struct link_to_worker){
		                    .has_beat_ack = true, .beat_ack = {b->number, f->news}});
	if (f->ack_beats && f->send_checks)
		fake_check(f);
}

static void on_output(struct fake *f, const struct output_row *o)
{
	struct buf *b = &f->output[o->stream];
	struct link_output_ack ack = {
	    o->task, o->token, o->stream, o->offset + o->raw_bytes, false};
	char *raw = xmalloc((size_t)o->raw_bytes);

	if (o->codec)
		assert_int_equal(
		    ZSTD_decompress(raw, (size_t)o->raw_bytes, o->data.p, o->data.n), o->raw_bytes);
	else
		memcpy(raw, o->data.p, o->data.n);
	assert_true((size_t)o->offset <= b->n); /* without gaps */
	b->n = (size_t)o->offset;               /* a growing chunk comes again */
	buf_add(b, raw, (size_t)o->raw_bytes);
	free(raw);
	if (f->ack_output)
		send_message(f, &(struct link_to_worker){.output_ack = &ack, .n_output_ack = 1});
}

static const char challenge[LINK_NONCE_BYTES] = "whoever signs this has the key";

/* Before its hello, and provably by who it says it is. */
static void on_knock(struct fake *f, const struct link_knock *k)
{
	struct buf what = {0};

	link_proof((struct str){challenge, sizeof challenge}, k->instance, k->shard, &what);
	assert_true(proof_holds(k->key, buf_str(&what), k->signature));
	buf_release(&what);
	memcpy(f->key, k->key.p, sizeof f->key);
	f->knocked = true;
}

static void on_frame(struct link *l, struct str payload, void *arg)
{
	struct fake *f = arg;
	struct link_to_server m;
	int64_t output = 0;
	struct problem p = {0};

	if (link_decode_to_server(payload, &f->arena, &m, &p) < 0)
		fail_msg("%s", p.what);
	if (m.knock)
		on_knock(f, m.knock);
	if (m.hello) {
		assert_true(f->knocked);
		f->knocked = false;
		on_hello(f, m.hello);
	}
	for (size_t i = 0; i < m.n_checked; i++)
		on_checked(f, &m.checked[i]);
	if (m.has_beat)
		on_beat(f, &m.beat);
	for (size_t i = 0; i < m.n_notified; i++) {
		f->n_notified++;
		f->notified = m.notified[i];
	}
	for (size_t i = 0; i < m.n_started; i++) {
		GROW(f->starts, f->cap_starts, f->n_starts + 1);
		f->starts[f->n_starts++] = m.started[i];
	}
	for (size_t i = 0; i < m.n_health; i++) {
		GROW(f->healths, f->cap_healths, f->n_healths + 1);
		f->healths[f->n_healths++] = m.health[i];
	}
	for (size_t i = 0; i < m.n_output; i++) {
		output += m.output[i].raw_bytes;
		on_output(f, &m.output[i]);
	}
	if (output > f->most_output)
		f->most_output = output;
	for (size_t i = 0; i < m.n_ended; i++) {
		GROW(f->ends, f->cap_ends, f->n_ends + 1);
		f->ends[f->n_ends++] = m.ended[i];
		if (f->ack_ends)
			fake_ack(f, m.ended[i].task, m.ended[i].token);
	}
	loop_stop(f->loop); /* let the test look */
}

static void on_close(struct link *l, const char *why, void *arg)
{
	struct fake *f = arg;

	if (f->link == l)
		f->link = NULL;
	loop_stop(f->loop);
}

static void *on_accept(struct link *l, const char *peer, void *arg)
{
	struct fake *f = arg;

	f->link = l;
	send_message(f, &(struct link_to_worker){.challenge = {challenge, sizeof challenge}});
	return f;
}

static void on_timeout(void *arg)
{
	struct fake *f = arg;

	f->timed_out = true;
	loop_stop(f->loop);
}

void fake_open(struct fake *f)
{
	static const struct link_events events = {.on_frame = on_frame, .on_close = on_close};
	struct link_options o = {0};
	struct problem p = {0};

	*f = (struct fake){.ack_ends = true,
	    .ack_output = true,
	    .answer_hello = true,
	    .ack_beats = true,
	    .send_checks = true,
	    .timeouts = {1000, 10000, 10000, 10000, 60000, 100, 300},
	    .news = {.state = WORKER_UNHEALTHY, .set = {99, 1, {2, 3, 1}}},
	    .ids = {{1, 2, 3, 4, 5}}};
	f->loop = loop_new();
	f->timeout = loop_timer_new(f->loop, on_timeout, f);
	f->listener = link_listen(f->loop, "127.0.0.1:0", NULL, &o, &events, on_accept, f, &p);
	if (!f->listener)
		fail_msg("%s", p.what);
	snprintf(f->address, sizeof f->address, "127.0.0.1:%d", link_listener_port(f->listener));
	snprintf(f->state_dir, sizeof f->state_dir, "/tmp/reeve-test-XXXXXX");
	assert_non_null(mkdtemp(f->state_dir));
}

static bool is_unlinked(struct fake *f, long n)
{
	return !f->link;
}

void fake_drop_link(struct fake *f)
{
	if (!f->link)
		return;
	link_close(f->link, "the test says so");
	fake_until(f, is_unlinked, 0);
}

void fake_close(struct fake *f)
{
	static const char *const files[] = {"lock", "keeper", "started"};
	char path[128];

	if (f->worker > 0) { /* the test failed: it must not live on */
		kill(f->worker, SIGKILL);
		fake_wait_worker(f);
	}
	fake_drop_link(f);
	link_listener_free(f->listener);
	loop_timer_free(f->timeout);
	loop_free(f->loop);
	arena_release(&f->arena);
	buf_release(&f->output[0]);
	buf_release(&f->output[1]);
	free(f->ends);
	free(f->starts);
	free(f->healths);
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		snprintf(path, sizeof path, "%s/%s", f->state_dir, files[i]);
		unlink(path);
	}
	rmdir(f->state_dir);
}

void fake_worker(struct fake *f, struct worker_options o)
{
	struct log_options quiet = {.level = LOG_ERROR, .format = LOG_HUMAN, .program = "worker"};

	o.server = f->address;
	o.state_dir = f->state_dir;
	o.maxthreads = -1;
	if (!o.shard)
		o.shard = "tested";
	if (getenv("REEVE_TEST_LOG"))
		quiet.level = LOG_DEBUG;
	f->worker = fork();
	assert_true(f->worker >= 0);
	if (f->worker == 0) {
		log_setup(&quiet);
		exit(worker_main(&o)); /* not _exit: the leak check shall look at it */
	}
}

int fake_wait_worker(struct fake *f)
{
	int status;

	assert_int_equal(waitpid(f->worker, &status, 0), f->worker);
	f->worker = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void fake_until(struct fake *f, fake_condition *condition, long n)
{
	f->timed_out = false;
	loop_timer_set(f->timeout, 20000);
	while (!condition(f, n) && !f->timed_out)
		loop_run(f->loop);
	loop_timer_set(f->timeout, -1);
	if (f->timed_out)
		fail_msg("what the test waits for did not happen");
}

bool has_hellos(struct fake *f, long n)
{
	return f->n_hellos >= n;
}

bool has_beats(struct fake *f, long n)
{
	return f->n_beats >= n;
}

bool has_ends(struct fake *f, long n)
{
	return f->n_ends >= (size_t)n;
}

bool has_starts(struct fake *f, long n)
{
	return f->n_starts >= (size_t)n;
}

bool has_output(struct fake *f, long bytes)
{
	return f->output[STDOUT].n >= (size_t)bytes;
}

bool is_leaving(struct fake *f, long n)
{
	return f->leaving;
}

bool has_checked(struct fake *f, long n)
{
	return f->n_checked >= n;
}

bool has_notified(struct fake *f, long n)
{
	return f->n_notified >= n;
}

bool is_in_state(struct fake *f, long state)
{
	return (long)f->beat.own == state;
}

struct link_fares *fake_fares(struct fake *f, rid task)
{
	for (size_t i = f->n_healths; i-- > 0;)
		if (f->healths[i].task == task)
			return &f->healths[i].fares;
	return NULL;
}

void fake_run(struct fake *f, struct link_run r)
{
	if (!r.number)
		r.number = ++f->last_run;
	if (!r.notify_seq)
		r.notify_seq = f->notify_seq;
	if (!r.token)
		r.token = 1;
	if (!r.attempt)
		r.attempt = 1;
	if (!r.queue.p)
		r.queue = STR("q");
	if (!r.plugin.p)
		r.plugin = STR("command");
	send_message(f, &(struct link_to_worker){.run = &r, .n_run = 1});
}

void fake_kill(struct fake *f, rid task, int64_t token, bool forget)
{
	struct link_kill k = {task, token, STR("the test wants it"), forget};

	send_message(f, &(struct link_to_worker){.kill = &k, .n_kill = 1});
}

void fake_ack(struct fake *f, rid task, int64_t token)
{
	struct run_ref a = {task, token};

	send_message(f, &(struct link_to_worker){.ended_ack = &a, .n_ended_ack = 1});
}

void fake_check(struct fake *f)
{
	send_message(f, &(struct link_to_worker){
	                    .has_check = true, .check = {++f->last_check, f->beat.number}});
}

void fake_notify(struct fake *f, struct run_ref *refs, size_t n)
{
	struct link_notify m = {++f->notify_seq, refs, n};

	send_message(f, &(struct link_to_worker){.notify = &m, .n_notify = 1});
}

void fake_refuse(struct fake *f, bool die, bool restart)
{
	struct link_refused r = {STR("the test does not want it"), die, restart};

	send_message(f, &(struct link_to_worker){.refused = &r});
}

struct link_ended *fake_end(struct fake *f, rid task)
{
	for (size_t i = f->n_ends; i > 0; i--)
		if (f->ends[i - 1].task == task)
			return &f->ends[i - 1];
	fail_msg("task %d has no end", (int)task);
	return NULL;
}
