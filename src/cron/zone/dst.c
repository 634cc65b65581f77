/* SPDX-License-Identifier: Apache-2.0 */
/* The answers to daylight saving's two tricks, by name. */
#include "cron/zone/dst.h"

static const char *const names[] = {
    [DST_SKIP] = "skip",
    [DST_UNSKIP] = "unskip",
    [DST_BOTH] = "repeat_use_both",
    [DST_EARLY] = "repeat_use_only_early",
    [DST_LATE] = "repeat_use_only_late",
};
#define N_NAMES (sizeof names / sizeof *names)

const char *dst_skipped_name(enum cron_skipped skipped)
{
	return names[DST_SKIP + skipped];
}

const char *dst_repeated_name(enum cron_repeated repeated)
{
	return names[DST_BOTH + repeated];
}

static int bad_word(struct str word, struct problem *p)
{
	const char *near = str_nearest(word, names, N_NAMES);

	problem_set(p, ERR_INVALID, "\"" STR_FMT "\" is no answer to daylight saving",
	    STR_ARG(((struct str){word.p, word.n > 40 ? 40 : word.n})));
	if (near)
		problem_hint(p, "did you mean \"%s\"?", near);
	else
		problem_hint(p, "one of skip, unskip and one of repeat_use_both, "
		                "repeat_use_only_early, repeat_use_only_late; or \"vixie\"");
	return ERR_INVALID;
}

int dst_pair(struct str a, struct str b, struct cron_dst *ret_dst, struct problem *p)
{
	struct str words[2] = {a, b};
	int skipped = -1, repeated = -1;

	for (size_t i = 0; i < 2; i++) {
		size_t k = 0;

		while (k < N_NAMES && !str_is(words[i], names[k]))
			k++;
		if (k == N_NAMES)
			return bad_word(words[i], p);
		*(k < DST_BOTH ? &skipped : &repeated) = (int)k;
	}
	if (skipped < 0 || repeated < 0) {
		problem_set(p, ERR_INVALID, "two answers to the same question: %s",
		    skipped < 0 ? "what is repeated" : "what is skipped");
		problem_hint(p, "one of skip, unskip (for times that do not exist) and one of "
		                "repeat_use_both, repeat_use_only_early, "
		                "repeat_use_only_late (for times that come twice)");
		return ERR_INVALID;
	}
	*ret_dst = (struct cron_dst){.mode = CRON_DST_GIVEN,
	    .skipped = (enum cron_skipped)(skipped - DST_SKIP),
	    .repeated = (enum cron_repeated)(repeated - DST_BOTH)};
	return ERR_OK;
}

int cron_dst_parse(struct str text, struct cron_dst *ret_dst, struct problem *p)
{
	struct str rest = text, a = STR_NULL, b = STR_NULL;

	if (str_is(text, "vixie")) {
		*ret_dst = (struct cron_dst){.mode = CRON_DST_VIXIE};
		return ERR_OK;
	}
	if (!str_next(&rest, ',', &a) || !str_next(&rest, ',', &b) || rest.p) {
		problem_set(p, ERR_INVALID, "daylight saving needs \"vixie\" or two answers");
		problem_hint(p, "for example unskip,repeat_use_only_early");
		return ERR_INVALID;
	}
	return dst_pair(a, b, ret_dst, p);
}

void cron_item_set_dst(struct cron_item *it, const struct cron_dst *dst)
{
	bool always = it->hours == CRON_ALL_HOURS || it->minutes == CRON_ALL_MINUTES;

	it->by_vixie = !dst || dst->mode == CRON_DST_VIXIE;
	it->skipped = it->by_vixie ? (always ? CRON_SKIP : CRON_UNSKIP) : dst->skipped;
	it->repeated =
	    it->by_vixie ? (always ? CRON_REPEAT_BOTH : CRON_REPEAT_EARLY) : dst->repeated;
}
