/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold: numbers and words. A kind of work has its own beside its hooks. */
#include <stddef.h>

#include "sim/kind.h"

static const struct invariant invariants[] = {
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
        "a task goes only to a healthy worker that has lately started a process, and is not "
        "drained"},
    {38, "no-way-back", "an instance that was replaced does not come back"},
    {39, "true-sets", "no set is told in the initial wait; nobody is credited with one not heard"},
    {41, "own-attempts", "a worker harms only its own attempts, whatever it says"},
    {44, "not-overcommitted",
        "what processes need is there, on each worker and in the cluster, where they may be; no "
        "more run than a throttle allows"},
    {45, "given-back", "after healing nobody holds anything"},
    {42, "batches", "a batch's row counts what was submitted to it; who joins one joins that one"},
    {43, "input", "a process reads its input in order and whole; what was acknowledged stays"},
    {34, "deterministic", "the same seed gives the same trace hash"},
    {0},
};

static const struct invariant *among(const struct invariant *i, int number)
{
	for (; i && i->number; i++)
		if (i->number == number)
			return i;
	return NULL;
}

const struct invariant *invariant_find(int number)
{
	const struct invariant *found = among(invariants, number);

	for (size_t i = 0; !found && sim_kinds[i]; i++)
		found = among(sim_kinds[i]->invariants, number);
	return found;
}

void verdict_set(struct verdict *v, int number)
{
	const struct invariant *i = invariant_find(number);

	v->invariant = number;
	v->name = i ? i->name : "unknown";
	v->text = i ? i->text : "";
}
