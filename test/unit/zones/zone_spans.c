/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the spans of zones, for somebody else to hold against what he knows:
 *
 *   zone_spans DIRECTORY FROM UNTIL <NAMES
 *
 * Per name a line "= NAME", then a line "BEGIN END OFFSET DST ABBREVIATION" for each span that
 * touches [FROM, UNTIL); a name that is refused gives "! what was wrong".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zones/zones.h"

static void print_spans(const struct cron_zone *z, int64_t from, int64_t until)
{
	struct cron_span s;

	for (int64_t t = from; t < until; t = s.end) {
		cron_zone_at(z, t, &s);
		printf("%" PRId64 " %" PRId64 " %d %d %s\n", s.begin, s.end, s.offset, s.dst,
		    s.abbrev);
	}
}

static void print_zone(struct zones *zones, struct str name, int64_t from, int64_t until)
{
	struct zone_ref *ref;
	struct problem p;

	printf("= " STR_FMT "\n", STR_ARG(name));
	if (zones_get(zones, name, &ref, &p) < 0) {
		printf("! %s\n", p.what);
		return;
	}
	print_spans(ref->zone, from, until);
	zone_ref_drop(ref);
}

int main(int argc, char **argv)
{
	int64_t from, until;
	struct zones *zones;
	char line[512];

	if (argc != 4 || !str_to_i64(str_of(argv[2]), INT64_MIN, INT64_MAX, &from) ||
	    !str_to_i64(str_of(argv[3]), INT64_MIN, INT64_MAX, &until)) {
		fputs("usage: zone_spans DIRECTORY FROM UNTIL <NAMES\n", stderr);
		return 2;
	}
	zones = zones_new(argv[1]);
	while (fgets(line, sizeof line, stdin))
		print_zone(zones, (struct str){line, strcspn(line, "\n")}, from, until);
	zones_free(zones);
	return 0;
}
