/* SPDX-License-Identifier: Apache-2.0 */
/* Instants as people and programs read them, in a zone. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "cli/cron/cron_input.h"
#include "cron/zone/civil.h"

/* "+01:00"; with seconds where a historic zone has them. */
static void offset_text(int32_t offset, char out[16])
{
	int32_t size = abs(offset);

	if (size % 60)
		snprintf(out, 16, "%c%02d:%02d:%02d", offset < 0 ? '-' : '+', size / 3600,
		    size / 60 % 60, size % 60);
	else
		snprintf(
		    out, 16, "%c%02d:%02d", offset < 0 ? '-' : '+', size / 3600, size / 60 % 60);
}

static void write_local(
    const struct cron_zone *z, int64_t t, const char *between, char out[CRON_LOCAL_MAX])
{
	int32_t offset = cron_zone_offset(z, t);
	struct civil c = civil_from_seconds(t + offset);
	char text[16];

	offset_text(offset, text);
	snprintf(out, CRON_LOCAL_MAX, "%04d-%02d-%02d%.1s%02d:%02d:%02d%s%s", c.year, c.month,
	    c.day, between, c.hour, c.minute, c.second, *between == ' ' ? " " : "", text);
}

static const char *cron_local_text(const struct cron_zone *z, int64_t t, char out[CRON_LOCAL_MAX])
{
	write_local(z, t, "T", out);
	return out;
}

void cron_local_words(const struct cron_zone *z, int64_t t, struct buf *out)
{
	static const char days[] = "SunMonTueWedThuFriSat";
	char local[CRON_LOCAL_MAX];
	struct cron_span s;
	struct civil c;

	cron_zone_at(z, t, &s);
	c = civil_from_seconds(t + s.offset);
	write_local(z, t, " ", local);
	buf_printf(out, "%.3s %s %s", days + 3 * civil_weekday(civil_days(c.year, c.month, c.day)),
	    local, s.abbrev);
}

json_t *cron_time_json(const struct cron_zone *z, int64_t t)
{
	char local[CRON_LOCAL_MAX], utc[TIME_TEXT_MAX];
	struct cron_span s;

	cron_zone_at(z, t, &s);
	time_format_ms(t * 1000, utc);
	return json_pack("{s:I,s:s,s:s,s:s}", "epoch", (json_int_t)t, "utc", utc, "local",
	    cron_local_text(z, t, local), "abbreviation", s.abbrev);
}

json_t *cron_items_tree(const struct cron_items *items)
{
	AUTO(buf_release) struct buf text = {0};

	cron_items_write(items, &text);
	return json_loadb(text.p ? text.p : "", text.n, 0, NULL);
}
