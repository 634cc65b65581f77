/* SPDX-License-Identifier: Apache-2.0 */
/* What the server waits for, in words. */
#include "words/words.h"

#define START                                                                              \
	"nothing is started for at most {in}: the last server did not write down what it " \
	"started, so every worker that may run something must speak first, or have ended it"
#define NO_TASKS "worker {name} gets no tasks yet: "
#define NEXT_ONES                                                                              \
	NO_TASKS "newcomers are taken in together, and the next ones when worker {other} has " \
	         "repeated the present set of workers, which it does "

static const char *const sentences[N_WAITS] = {
    [WAIT_START] = START,
    [WAIT_START_UNSAFE] = START
    ". UNSAFE: the time is the one of CAUTION_startup_wait_for_workers, and shorter than that "
    "takes: what a worker runs that speaks later may be started a second time",
    [WAIT_START_LOST] = "worker {name} is lost without having said what it runs",
    [WAIT_START_SILENT] = "worker {name} has not spoken yet",
    [WAIT_START_NEW] = "worker {name} is new here",
    [WAIT_START_UNTOLD] = "worker {name} has not heard from the last server which workers there "
                          "are",
    [WAIT_START_AGREES] = "worker {name} agrees with those who are here",
    [WAIT_START_DIFFERS] = "worker {name} knows another set of workers than those who are here",
    [WAIT_WORD] = "{n} task{s} on worker {name}, which is away: they count as running until it "
                  "returns, or is lost in {in}",
    [WAIT_UNSURE] = "worker {name} has not said whether it started {n} task{s}: it is asked "
                    "again",
    [WAIT_BATCHED] = NO_TASKS "newcomers are taken in together, and it is among the next",
    [WAIT_BATCHED_BEAT] = NEXT_ONES "with its next heartbeats",
    [WAIT_BATCHED_LOSS] = NEXT_ONES "when it speaks, or is lost in {in}",
    [WAIT_SET_OWN] = NO_TASKS "it must first repeat the set of workers",
    [WAIT_SET_BEAT] = NO_TASKS "worker {other} does not know of it, and hears of it with its next "
                               "heartbeats",
    [WAIT_SET_UNHEALTHY] = NO_TASKS "worker {other} does not know of it and is unhealthy; it "
                                    "speaks, or is lost in {in}",
    [WAIT_SET_AWAY] = NO_TASKS "worker {other} does not know of it and is away; it speaks, or is "
                               "lost in {in}",
    [WAIT_HELLO] = NO_TASKS "it waits for its hello",
    [WAIT_BEAT] = NO_TASKS "it waits for its heartbeat",
    [WAIT_CHECK] = NO_TASKS "it waits for a healthcheck that succeeds{; the last one said: "
                            "|reason}",
    [WAIT_LIFE] = NO_TASKS "it waits for ",
};

struct str words_wait(struct arena *a, const struct wait *w)
{
	return words_fill(a, sentences[w->code], &w->facts);
}
