/* SPDX-License-Identifier: Apache-2.0 */
/* Is the audit trail as it was written? Looked at from its oldest event on, until one does not fit.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "store/backend.h"
#include "store/chain.h"

#define STEP_EVENTS 500

typedef unsigned long long ull;

static const char *const fault_names[] = {
    [AUDIT_FITS] = "none",
    [AUDIT_CHANGED] = "changed",
    [AUDIT_MISSING] = "missing",
    [AUDIT_ADDED] = "added",
    [AUDIT_REWRITTEN] = "rewritten",
    [AUDIT_EXPIRED] = "expired",
};

const char *audit_fault_name(enum audit_fault fault)
{
	return fault_names[fault];
}

__attribute__((format(printf, 4, 5))) static void broken(
    struct audit_check *k, enum audit_fault fault, uint64_t seq, const char *format, ...)
{
	va_list args;

	k->fault = fault;
	k->fault_seq = seq;
	k->done = true;
	va_start(args, format);
	vsnprintf(k->what, sizeof k->what, format, args);
	va_end(args);
}

/* The head that somebody kept, against the same place of the chain. */
static void compare_kept(struct audit_check *k, const struct chain_end *end)
{
	if (!k->expect.seq || k->expect.seq != end->seq)
		return;
	k->met = true;
	if (memcmp(k->expect.hash, end->hash, CHAIN_HASH_BYTES) != 0)
		broken(k, AUDIT_REWRITTEN, end->seq,
		    "event %llu has another hash than the one that was kept: the trail up to it "
		    "was written anew",
		    (ull)end->seq);
}

static void go_on_from(struct audit_check *k, const struct chain_end *end)
{
	k->at = *end;
	compare_kept(k, end);
}

static void check_link(struct audit_check *k, const struct event_row *e)
{
	struct chain_end here = {.seq = e->seq};

	if (e->prev > k->at.seq) {
		broken(k, AUDIT_MISSING, e->prev,
		    "event %llu is missing: event %llu was written after it (the last that fits is "
		    "%llu)",
		    (ull)e->prev, (ull)e->seq, (ull)k->at.seq);
		return;
	}
	if (e->prev < k->at.seq) {
		broken(k, AUDIT_ADDED, k->at.seq,
		    "event %llu was added: event %llu was written right after event %llu",
		    (ull)k->at.seq, (ull)e->seq, (ull)e->prev);
		return;
	}
	chain_hash(&k->at, e, here.hash);
	if (e->hash.n != CHAIN_HASH_BYTES || memcmp(e->hash.p, here.hash, CHAIN_HASH_BYTES) != 0) {
		broken(k, AUDIT_CHANGED, e->seq,
		    "event %llu was changed: what it says, or the hash of the one before it, does "
		    "not fit its hash",
		    (ull)e->seq);
		return;
	}
	k->n++;
	if (!k->first)
		k->first = e->seq;
	go_on_from(k, &here);
}

static void check_event(struct audit_check *k, const struct event_row *e)
{
	k->after = e->seq;
	if (!e->hash.p && !k->at.seq)
		k->n_before++; /* there was no chain yet */
	else if (!e->hash.p)
		broken(k, AUDIT_ADDED, e->seq,
		    "event %llu was added, or its hash was removed: it has none", (ull)e->seq);
	else if (e->seq <= k->at.seq)
		broken(k, AUDIT_ADDED, e->seq,
		    "event %llu was added: those up to event %llu have expired", (ull)e->seq,
		    (ull)k->at.seq);
	else if (e->seq > k->head.seq)
		broken(k, AUDIT_ADDED, e->seq,
		    "event %llu was added: the last one that the server wrote is %llu", (ull)e->seq,
		    (ull)k->head.seq);
	else
		check_link(k, e);
}

static void check_kept(struct audit_check *k)
{
	if (!k->expect.seq || k->met)
		return;
	if (k->expect.seq < k->anchor.seq)
		broken(k, AUDIT_EXPIRED, k->expect.seq,
		    "event %llu has expired, and cannot be compared: keep a newer head",
		    (ull)k->expect.seq);
	else
		broken(k, AUDIT_MISSING, k->expect.seq, "event %llu is missing: its hash was kept",
		    (ull)k->expect.seq);
}

/* All were read: is the last one the last that was written? */
static void check_end(struct audit_check *k)
{
	k->done = true;
	if (k->at.seq != k->head.seq)
		broken(k, AUDIT_MISSING, k->head.seq,
		    "event %llu is missing: it was the last one written (the last that fits is "
		    "%llu)",
		    (ull)k->head.seq, (ull)k->at.seq);
	else if (memcmp(k->at.hash, k->head.hash, CHAIN_HASH_BYTES) != 0)
		broken(k, AUDIT_CHANGED, k->head.seq,
		    "event %llu was changed: the server wrote it with another hash",
		    (ull)k->head.seq);
	else
		check_kept(k);
}

int store_audit_step(struct store_reader *r, struct audit_check *k)
{
	AUTO(arena_release) struct arena a = {0};
	struct audit_page page = {0};
	int rc = r->ops->audit(r, k->after, STEP_EVENTS, &a, &page);

	if (rc)
		return rc;
	k->anchor = page.anchor;
	k->head = page.head;
	if (page.anchor.seq > k->at.seq) /* where it begins; or, what was next has expired since */
		go_on_from(k, &page.anchor);
	for (size_t i = 0; i < page.events.n && !k->done; i++)
		check_event(k, &page.events.rows[i]);
	if (!k->done && page.events.n < STEP_EVENTS)
		check_end(k);
	return 0;
}
