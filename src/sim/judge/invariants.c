/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold: numbers and words. A later kind of work adds its rows here, and its hooks. */
#include "sim/judge/judge.h"

const struct invariant invariants[] = {
    {1, "acknowledged", "an acknowledged submit exists after any recovery"},
    {2, "idempotent", "one idempotency key, one task; one live task per unique key"},
    {3, "legal-moves", "only legal state edges; what has ended never changes by itself"},
    {4, "one-start", "at most one process start per task and token"},
    {5, "no-overlap", "attempts of one task never overlap in true time"},
    {6, "fencing", "after a higher token no lower one starts"},
    {7, "true-success", "success requires a good end of that attempt's own process"},
    {8, "stale-ignored", "stale messages change nothing"},
    {11, "lease", "a lost attempt is over, and is tried again only after the hold"},
    {12, "absent", "an instance that said \"not here\" never starts that attempt"},
    {13, "limits", "queue and worker limits hold, counting unsure attempts"},
    {14, "counts", "counts equal a recount and are never negative"},
    {19, "one-per-tick",
        "at most one task per schedule and tick; every due tick has one, waits, or has a reason"},
    {20, "no-repeat", "a clock that is set back makes no tick fire twice"},
    {22, "backoff", "no attempt before its due time, no retry before its backoff"},
    {25, "cancelled", "no start after an acknowledged cancel"},
    {26, "attempts", "attempts do not exceed the maximum, and their numbers go on after a retry"},
    {27, "output",
        "the stored log is a prefix of the output, and log, result and usage are nobody else's"},
    {28, "replay", "event numbers have no gaps; the rows give the same state again"},
    {29, "bounded", "queues, messages and memory stay bounded"},
    {32, "liveness", "after healing all runnable tasks end in time"},
    {33, "no-leftovers", "after healing nothing is unsure, nobody is lost, no process is left"},
    {35, "healthy-start", "a worker takes a task only while it is healthy itself"},
    {36, "first-to-go", "a worker gives up before the server gives it up"},
    {37, "sound-placement",
        "a task goes only to a healthy worker that has lately started a process"},
    {38, "no-way-back", "an instance that was replaced does not come back"},
    {39, "true-sets", "no set is told in the initial wait; nobody is credited with one not heard"},
    {40, "schedule-rules",
        "schedules keep their overlap policy, pauses, dates and jitter; rows and counts agree"},
    {41, "own-attempts", "a worker harms only its own attempts, whatever it says"},
    {34, "deterministic", "the same seed gives the same trace hash"},
};
const size_t n_invariants = sizeof invariants / sizeof invariants[0];

void invariant_find(int number, const char **ret_name, const char **ret_text)
{
	*ret_name = "unknown";
	*ret_text = "";
	for (size_t i = 0; i < n_invariants; i++)
		if (invariants[i].number == number) {
			*ret_name = invariants[i].name;
			*ret_text = invariants[i].text;
		}
}
