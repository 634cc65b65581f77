/* SPDX-License-Identifier: Apache-2.0 */
/* Dates of the proleptic Gregorian calendar as numbers of days since 1970-01-01, and back. */
#ifndef CRON_CIVIL_H
#define CRON_CIVIL_H

#include <stdbool.h>
#include <stdint.h>

#define DAY_SECONDS 86400

struct civil {
	int32_t year;
	int32_t month; /* 1 to 12 */
	int32_t day;   /* 1 to 31 */
	int32_t hour, minute, second;
};

int64_t civil_days(int32_t year, int32_t month, int32_t day);
void civil_from_days(int64_t days, int32_t *ret_year, int32_t *ret_month, int32_t *ret_day);
int32_t civil_weekday(int64_t days); /* 0 is Sunday */
bool civil_leap(int32_t year);
int32_t civil_month_days(int32_t year, int32_t month);
/* Seconds since 1970-01-01T00:00:00 of the same clock, whatever its zone; and back. */
int64_t civil_seconds(const struct civil *c);
struct civil civil_from_seconds(int64_t local);

#endif
