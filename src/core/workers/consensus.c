/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why no history of sets is kept: whoever is live and joined at or before version V is in the set
 * of version V, and whoever is live and joined later is not. So the live part of any old set is a
 * prefix of the list by `joined`, and one number per member stands for a whole set. Those that left
 * are in old sets too, but need not be followed: a worker that requires a dead one can't be part of
 * a consensus at all. The history is pruned by construction: O(workers) memory.
 */
#include "core/workers/consensus.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/mutant.h"

void consensus_init(struct consensus *s, uint64_t server, uint32_t patience)
{
	*s = (struct consensus){.id.server = server, .patience = patience, .agreed = true};
	TAILQ_INIT(&s->members);
	TAILQ_INIT(&s->batched);
}

/* Into the set whose version the caller has just counted up: the newest are last in the list. */
static void admit(struct consensus *s, struct member *m)
{
	set_hash_add(&s->id.hash, m->instance);
	TAILQ_INSERT_TAIL(&s->members, m, entry);
	m->joined = s->id.version;
	m->is_in = true;
	s->agreed = false;
	s->dirty = true;
}

/*
 * A worker that comes with an initial set is no newcomer: it may have run under the server before.
 * It is never batched, or the others would be told sets without it and could agree on those.
 */
static bool must_wait(const struct consensus *s, const struct member *m)
{
	if (m->initial.server != 0 && !MUTANT(CONSENSUS_BATCHES_RETURNING))
		return false;
	return !s->agreed && s->newcomers >= s->patience;
}

void consensus_join(
    struct consensus *s, struct member *m, uint64_t instance, const struct set_id *initial)
{
	MUST(!m->is_in && !m->batched);
	*m = (struct member){.instance = instance};
	if (initial != NULL && initial->server != 0) {
		m->initial = *initial;
		set_hash_add(&s->initials, instance);
	}
	if (must_wait(s, m)) {
		m->batched = true;
		TAILQ_INSERT_TAIL(&s->batched, m, entry);
		return;
	}
	if (m->initial.server == 0)
		s->newcomers++;
	s->id.version++;
	admit(s, m);
}

void consensus_leave(struct consensus *s, struct member *m)
{
	if (!m->is_in && !m->batched)
		return;
	if (m->initial.server != 0)
		set_hash_del(&s->initials, m->instance);
	if (m->batched) {
		TAILQ_REMOVE(&s->batched, m, entry);
	} else {
		TAILQ_REMOVE(&s->members, m, entry);
		set_hash_del(&s->id.hash, m->instance);
		s->id.version++;
		s->dirty = true;
	}
	*m = (struct member){.instance = m->instance};
}

void consensus_told(struct consensus *s, struct member *m)
{
	if (!m->is_in)
		return;
	m->told = s->id.version;
	s->told[m->told % SETS_KEPT].version = m->told;
	s->told[m->told % SETS_KEPT].hash = s->id.hash;
	if (MUTANT(CONSENSUS_TOLD_IS_KNOWN) && m->version < m->told) {
		m->version = m->told;
		s->dirty = true;
	}
}

static bool was_told(const struct consensus *s, const struct set_id *said)
{
	uint64_t at = said->version % SETS_KEPT;

	return s->told[at].version == said->version && set_hash_eq(&s->told[at].hash, &said->hash);
}

void consensus_repeated(struct consensus *s, struct member *m, const struct set_id *said)
{
	if (!m->is_in || said->server == 0)
		return;
	if (!MUTANT(CONSENSUS_FOREIGN_COUNTS) && said->server != s->id.server)
		return;
	/* Not before it joined: we told it no set without itself. */
	if (said->version > m->told || said->version < m->joined || said->version <= m->version)
		return;
	if (!was_told(s, said))
		return;
	m->version = said->version;
	s->dirty = true;
}

/* One member, in the order of `joined`. */
struct step {
	uint64_t joined;
	uint64_t top;     /* highest version that anybody up to here requires */
	uint64_t closure; /* what that leads to in the end */
};

/* How many members are in the set of this version. */
static size_t count_in(const struct step *steps, size_t n, uint64_t version)
{
	size_t low = 0;

	while (low < n) {
		size_t mid = low + (n - low) / 2;

		if (steps[mid].joined <= version)
			low = mid + 1;
		else
			n = mid;
	}
	return low;
}

/*
 * A set leads to the highest version that any of its members requires, which names a larger set,
 * and so on until nothing is added. From the newest to the oldest: `top` never rises on the way,
 * so neither does `in`, and what a larger set leads to is known already.
 */
static void close_steps(struct step *steps, size_t n)
{
	size_t in = n;

	for (size_t i = n; i-- > 0;) {
		struct step *step = &steps[i];

		while (in > 0 && steps[in - 1].joined > step->top)
			in--;
		step->closure = in > i + 1 ? steps[in - 1].closure : step->top;
	}
}

static void propagate(struct consensus *s)
{
	size_t n = 0, i = 0;
	uint64_t top = 0;
	struct step *steps = xcalloc((size_t)s->id.hash.count + 1, sizeof *steps);
	struct member *m;

	TAILQ_FOREACH (m, &s->members, entry) {
		if (m->indirect < m->version)
			m->indirect = m->version;
		if (top < m->indirect)
			top = m->indirect;
		steps[n++] = (struct step){.joined = m->joined, .top = top};
	}
	close_steps(steps, n);
	TAILQ_FOREACH (m, &s->members, entry) {
		i = MUTANT(CONSENSUS_FOLLOWS_STRANGERS) ? n : count_in(steps, n, m->indirect);
		if (i > 0 && m->indirect < steps[i - 1].closure)
			m->indirect = steps[i - 1].closure;
	}
	free(steps);
}

static void find_lowest(struct consensus *s)
{
	const struct member *m, *newest = TAILQ_LAST(&s->members, member_list);

	s->lowest = newest == NULL ? 0 : newest->indirect;
	TAILQ_FOREACH (m, &s->members, entry)
		if (s->lowest > m->indirect)
			s->lowest = m->indirect;
	s->agreed = newest == NULL || s->lowest >= newest->joined;
}

static bool permit(struct consensus *s)
{
	bool any = false;
	struct member *m;

	TAILQ_FOREACH (m, &s->members, entry) {
		if (m->permitted || m->version < m->joined)
			continue;
		if (!MUTANT(CONSENSUS_IGNORES_OTHERS) && s->lowest < m->joined)
			continue;
		m->permitted = any = true;
	}
	return any;
}

/* All at once, as one new set: however many came, it takes one more round to agree on them. */
static bool admit_batched(struct consensus *s)
{
	struct member *m;

	if (!s->agreed)
		return false;
	s->newcomers = 0;
	if (TAILQ_EMPTY(&s->batched))
		return false;
	s->id.version++;
	while ((m = TAILQ_FIRST(&s->batched)) != NULL) {
		TAILQ_REMOVE(&s->batched, m, entry);
		m->batched = false;
		admit(s, m);
	}
	return true;
}

bool consensus_update(struct consensus *s)
{
	bool permitted, admitted;

	if (!s->dirty)
		return false;
	s->dirty = false;
	propagate(s);
	find_lowest(s);
	permitted = permit(s);
	/* After the permissions: newcomers who never answer must not delay those who agree. */
	admitted = admit_batched(s);
	return permitted || admitted;
}

bool consensus_permits(const struct consensus *s, const struct member *m)
{
	(void)s;
	if (MUTANT(CONSENSUS_PERMITS_BATCHED) && m->batched)
		return true;
	return m->is_in && m->permitted;
}

/*
 * Versions of one server's sets may differ if the hash is the same (somebody came and was lost in
 * between): whoever ran meanwhile was required by all, and is dead if a newer set lacks it. Ids of
 * different servers don't mix: the chain of requirements that makes this safe is one server's.
 */
static bool same_set(const struct consensus *s, const struct member *m, uint64_t *server)
{
	if (m->initial.server == 0)
		return true;
	if (*server == 0)
		*server = m->initial.server;
	if (*server != m->initial.server)
		return false;
	if (MUTANT(CONSENSUS_INITIAL_SUBSET))
		return true;
	return set_hash_eq(&m->initial.hash, &s->initials);
}

bool consensus_initial(const struct consensus *s)
{
	uint64_t server = 0;
	const struct member *m;

	if (s->initials.count == 0)
		return MUTANT(CONSENSUS_EMPTY_AGREES);
	TAILQ_FOREACH (m, &s->members, entry)
		if (!same_set(s, m, &server))
			return false;
	return true;
}
