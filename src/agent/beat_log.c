/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/beat_log.h"

/*
 * One goes if the gap that it leaves is not long, for how long ago it was: so they get sparser with
 * age, and a day of milliseconds needs no more than a minute of seconds. Should that not help, the
 * oldest goes.
 */
static void thin(struct beat_log *l, int64_t now_ms)
{
	size_t n = 1;

	for (size_t i = 1; i < l->n; i++) {
		int64_t next_ms = i + 1 < l->n ? l->beats[i + 1].sent_ms : now_ms;

		if (i >= BEAT_LOG_SIZE - BEAT_LOG_RECENT ||
		    next_ms - l->beats[n - 1].sent_ms > (now_ms - next_ms) / 2)
			l->beats[n++] = l->beats[i];
	}
	if (n == l->n)
		for (size_t i = 1; i < n; i++)
			l->beats[i - 1] = l->beats[i];
	l->n = n == l->n ? n - 1 : n;
}

void beat_log_add(struct beat_log *l, uint64_t number, int64_t sent_ms)
{
	if (l->n == BEAT_LOG_SIZE)
		thin(l, sent_ms);
	l->beats[l->n].number = number;
	l->beats[l->n++].sent_ms = sent_ms;
}

int64_t beat_log_sent_ms(const struct beat_log *l, uint64_t number, int64_t otherwise_ms)
{
	for (size_t i = l->n; i-- > 0;)
		if (l->beats[i].number <= number)
			return l->beats[i].sent_ms;
	return otherwise_ms;
}
