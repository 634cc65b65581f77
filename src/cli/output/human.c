/* SPDX-License-Identifier: Apache-2.0 */
/* Amounts and times as people say them. Pure: the caller says what time it is. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/output/output.h"

const char *human_short(int64_t ms, char out[TIME_TEXT_MAX])
{
	int64_t s = ms / 1000;
	static const struct {
		int64_t below, unit;
		const char *name;
	} steps[] = {{60, 1, "s"}, {3600, 60, "m"}, {86400, 3600, "h"}, {INT64_MAX, 86400, "d"}};

	if (ms < 0)
		s = 0;
	for (size_t i = 0;; i++)
		if (s < steps[i].below) {
			snprintf(out, TIME_TEXT_MAX, "%lld%s", (long long)(s / steps[i].unit),
			    steps[i].name);
			return out;
		}
}

const char *human_ago(int64_t now_ms, int64_t then_ms, char out[TIME_TEXT_MAX])
{
	char span[TIME_TEXT_MAX];

	if (then_ms == 0)
		snprintf(out, TIME_TEXT_MAX, "-");
	else if (then_ms > now_ms + 999)
		snprintf(out, TIME_TEXT_MAX, "in %.24s", human_short(then_ms - now_ms + 500, span));
	else
		snprintf(out, TIME_TEXT_MAX, "%.24s ago", human_short(now_ms - then_ms, span));
	return out;
}

const char *human_rate(double per_s, char out[TIME_TEXT_MAX])
{
	if (!isfinite(per_s) || per_s <= 0)
		snprintf(out, TIME_TEXT_MAX, "0/s");
	else if (per_s >= 9.95)
		snprintf(out, TIME_TEXT_MAX, "%.0f/s", per_s);
	else if (per_s >= 0.095)
		snprintf(out, TIME_TEXT_MAX, "%.1f/s", per_s);
	else
		snprintf(out, TIME_TEXT_MAX, "%.1f/min", per_s * 60);
	return out;
}

const char *human_bytes(int64_t n, char out[TIME_TEXT_MAX])
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double amount = (double)n;
	size_t i = 0;

	while (amount >= 1024 && i + 1 < sizeof units / sizeof units[0]) {
		amount /= 1024;
		i++;
	}
	if (i == 0)
		snprintf(out, TIME_TEXT_MAX, "%lld B", (long long)n);
	else
		snprintf(out, TIME_TEXT_MAX, "%.1f %s", amount, units[i]);
	return out;
}

const char *human_count(int64_t n, char out[TIME_TEXT_MAX])
{
	char digits[24];
	int length = snprintf(digits, sizeof digits, "%lld", (long long)n);
	int sign = digits[0] == '-', at = 0;

	for (int i = 0; i < length; i++) {
		if (i > sign && (length - i) % 3 == 0)
			out[at++] = ',';
		out[at++] = digits[i];
	}
	out[at] = 0;
	return out;
}

int64_t eta_ms(int64_t done, int64_t total, double per_s)
{
	double ms;

	if (done >= total)
		return 0;
	if (!isfinite(per_s) || per_s <= 0)
		return -1;
	ms = (double)(total - done) / per_s * 1000;
	return ms > 1e15 ? -1 : (int64_t)ms;
}
