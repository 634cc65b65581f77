/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table itself. Each case has exactly one row; test/unit/service/test_reconcile.c counts them.
 * What Diego's design says differently stands beside, and docs/SERVICES.md says why.
 */
#include "service/worker/reconcile.h"

#define B(n) (1u << (n))
#define STARTING (B(HAS_INITIALIZING) | B(HAS_CREATED))
#define NOT_YET_RUNNING (B(HAS_RESERVED) | STARTING)
#define OVER (B(HAS_CRASHED) | B(HAS_SHUT_DOWN))
#define SELF (B(SAYS_CLAIMED_SELF) | B(SAYS_RUNNING_SELF))
#define OTHER (B(SAYS_CLAIMED_OTHER) | B(SAYS_RUNNING_OTHER))
#define ANY_RECORD (B(N_RECONCILE_RECORDS) - 1)

const struct reconcile_row reconcile_table[] = {
    /* there is room, and nothing else yet */
    {WHEN_ORDINARY, B(HAS_RESERVED), B(SAYS_NONE), DO_DELETE,
        "the record was there before the order, so it is wanted no more", "nothing"},
    {WHEN_ORDINARY, B(HAS_RESERVED), B(SAYS_UNCLAIMED), DO_CLAIM_AND_RUN,
        "the order is here and was not begun", "nothing"},
    {WHEN_ORDINARY, B(HAS_RESERVED), SELF, DO_RUN, "it is ours, and was not begun", "nothing"},
    {WHEN_ORDINARY, B(HAS_RESERVED), OTHER, DO_DELETE,
        "it is started elsewhere; the room is given back", "nothing"},
    {WHEN_ORDINARY, B(HAS_RESERVED), B(SAYS_CRASHED), DO_DELETE,
        "it waits, and will be ordered again; the room is given back", "nothing"},
    /* the instance is starting here */
    {WHEN_ORDINARY, STARTING, B(SAYS_NONE), DO_DELETE,
        "the record was there before the order, so it is wanted no more", NULL},
    {WHEN_ORDINARY, STARTING, B(SAYS_UNCLAIMED), DO_CLAIM, "this worker is starting it", NULL},
    {WHEN_ORDINARY, STARTING, B(SAYS_CLAIMED_SELF), DO_NOTHING, "this worker is starting it", NULL},
    {WHEN_ORDINARY, STARTING, B(SAYS_CLAIMED_OTHER), DO_DELETE, "it is starting elsewhere", NULL},
    {WHEN_ORDINARY, STARTING, B(SAYS_RUNNING_SELF), DO_CLAIM,
        "the record must not say that it runs while it does not: it would get traffic", "nothing"},
    {WHEN_ORDINARY, STARTING, B(SAYS_RUNNING_OTHER), DO_DELETE, "it runs elsewhere", NULL},
    {WHEN_ORDINARY, STARTING, B(SAYS_CRASHED), DO_DELETE, "it waits, and will be ordered again",
        NULL},
    /* the instance runs here */
    {WHEN_ALONE, B(HAS_RUNNING), B(SAYS_NONE), DO_CREATE_RUNNING,
        "it runs, so the store gets its record back: an emptied store stops nothing", NULL},
    {WHEN_ORDINARY, B(HAS_RUNNING), B(SAYS_UNCLAIMED), DO_SET_RUNNING,
        "it runs here, no need to start it elsewhere", NULL},
    {WHEN_ORDINARY, B(HAS_RUNNING), B(SAYS_CLAIMED_SELF), DO_SET_RUNNING, "it runs here", NULL},
    {WHEN_ORDINARY, B(HAS_RUNNING), B(SAYS_CLAIMED_OTHER), DO_SET_RUNNING,
        "it runs here, no need to start it elsewhere", NULL},
    {WHEN_ORDINARY, B(HAS_RUNNING), B(SAYS_RUNNING_SELF), DO_NOTHING, "that is so", NULL},
    {WHEN_ALONE, B(HAS_RUNNING), B(SAYS_RUNNING_OTHER), DO_STOP,
        "it runs elsewhere; this one may end as it likes to", "delete"},
    {WHEN_ORDINARY, B(HAS_RUNNING), B(SAYS_CRASHED), DO_SET_RUNNING,
        "it runs, so it need not be started again", NULL},
    /* the instance has ended here */
    {WHEN_ALONE, OVER, B(SAYS_NONE), DO_DELETE,
        "if it is wanted, convergence creates it; a record of what is over would bring it back",
        "crash"},
    {WHEN_ALONE, OVER, B(SAYS_UNCLAIMED), DO_DELETE, "it is to be started elsewhere", NULL},
    {WHEN_ALONE, B(HAS_CRASHED), SELF, DO_CRASH, "it crashed here", NULL},
    {WHEN_ALONE, B(HAS_SHUT_DOWN), SELF, DO_REMOVE, "it was told to stop, and has", NULL},
    {WHEN_ALONE, OVER, OTHER, DO_DELETE, "it is elsewhere, which is left alone", NULL},
    {WHEN_ALONE, OVER, B(SAYS_CRASHED), DO_DELETE, "the crash is known", NULL},
    /* nothing is here */
    {WHEN_ALONE, B(HAS_NONE), SELF, DO_UNCLAIM, "it should be here, and is not", NULL},
    {WHEN_ALONE, B(HAS_NONE), ANY_RECORD & ~SELF, DO_NOTHING,
        "it has nothing to do with this worker", NULL},
    /* this worker is being drained: what does not run yet moves at once */
    {WHEN_DRAINED, NOT_YET_RUNNING, SELF, DO_UNCLAIM_AND_DELETE,
        "it does not run yet, so it moves at once", NULL},
    {WHEN_DRAINED, NOT_YET_RUNNING, ANY_RECORD & ~SELF, DO_DELETE, "this worker takes nothing more",
        NULL},
    {WHEN_DRAINED, B(HAS_RUNNING), SELF, DO_EVACUATE, "it is kept until its replacement runs",
        NULL},
    {WHEN_DRAINED, B(HAS_RUNNING), B(SAYS_UNCLAIMED) | B(SAYS_CLAIMED_OTHER), DO_EVACUATE,
        "it is kept until its replacement runs, which is on its way", NULL},
    {WHEN_DRAINED, B(HAS_RUNNING), B(SAYS_CRASHED), DO_EVACUATE,
        "it runs, so it is better than nothing until its replacement does", NULL},
    /* and what runs stays until it is not needed any more */
    {WHEN_EVACUATING, B(HAS_RUNNING), B(SAYS_UNCLAIMED) | B(SAYS_CLAIMED_OTHER), DO_NOTHING,
        "its replacement does not run yet", NULL},
    {WHEN_EVACUATING, B(HAS_RUNNING), SELF, DO_EVACUATE,
        "its move was begun, and its replacement not asked for", NULL},
    {WHEN_EVACUATING, B(HAS_RUNNING), B(SAYS_NONE), DO_END_EVACUATION, "it is wanted no more",
        NULL},
    {WHEN_EVACUATING, B(HAS_RUNNING), B(SAYS_RUNNING_OTHER), DO_END_EVACUATION,
        "its replacement runs", NULL},
    {WHEN_EVACUATING, B(HAS_RUNNING), B(SAYS_CRASHED), DO_END_EVACUATION,
        "its replacement has started, and crashed: that is the service's own trouble", NULL},
    {WHEN_EVACUATING, NOT_YET_RUNNING, ANY_RECORD, DO_END_EVACUATION,
        "it does not run, and its replacement is on its way", NULL},
    {WHEN_EVACUATING, OVER, ANY_RECORD, DO_FORGET,
        "its replacement is on its way, and a crash here counts for nothing", NULL},
    {WHEN_EVACUATING, B(HAS_NONE), ANY_RECORD, DO_FORGET, "it is not here any more", NULL},
    /* this worker was silent, and is back */
    {WHEN_SUSPECT, NOT_YET_RUNNING | B(HAS_RUNNING), ANY_RECORD, DO_NOTHING,
        "convergence settles which of the two stays", NULL},
    {WHEN_SUSPECT, OVER, ANY_RECORD, DO_FORGET,
        "its replacement is on its way, and a crash here counts for nothing", NULL},
    {WHEN_SUSPECT, B(HAS_NONE), ANY_RECORD, DO_FORGET, "it is not here any more", NULL},
};
const unsigned reconcile_rows = sizeof reconcile_table / sizeof *reconcile_table;
