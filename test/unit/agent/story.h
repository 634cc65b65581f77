/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stories about the worker's brain are told in lines of what happens and what it then wants done:
 * `run(1, 5); SAYS("start 1/5");`. One agent at a time, one clock that the story moves.
 */
#ifndef TEST_UNIT_AGENT_STORY_H
#define TEST_UNIT_AGENT_STORY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/agent.h"
#include "model/limits.h"
#include "model/objects/queue.h"

extern struct agent *agent;
extern struct agent_effects effects; /* of the last step */
extern struct buf told;              /* the same as text, separated by "; " */
extern int64_t mono;
/* beats are too old after 40 s, checks after 45 s; then 55 s until it gives up (server: 60 s) */
extern const struct timeouts usual;
extern const struct link_run plain_run; /* number 0: the next one */

#define SAYS(text) assert_string_equal(told.n ? told.p : "", text)
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* what agent_step returned */
int step(struct agent_event in);
void up(void);
void down(void);
int welcome_by(uint64_t server, struct timeouts t, struct link_news news, uint64_t seq);
void welcome(void);
void tick_at(int64_t at);
void run_with(rid task, int64_t token, struct link_run r);
void run(rid task, int64_t token);
void started(rid task, int64_t token);
void exited(rid task, int64_t token, int code);
void signalled(rid task, int64_t token, int signal);
void wrote(rid task, int64_t token, size_t n);
void acked(rid task, int64_t token);
void output_acked(rid task, int64_t token, int64_t end);
int beat_acked(uint64_t number);
void news(struct link_news n);
int check(uint64_t number, uint64_t beat);
int checked(uint64_t number, bool ok);
void notify(uint64_t seq, const struct run_ref *refs, size_t n);
void refused(bool die, bool restart);
void kill_task(rid task, int64_t token, bool forget);
void leave(void);
void begin(const struct agent_options *o);
int setup(void **state);
int teardown(void **state);
/* until it is healthy in its own eyes: hello and beat 1 at 1000, check 1 counted */
void join(void);

#endif
