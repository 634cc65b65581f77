/* SPDX-License-Identifier: Apache-2.0 */
#include "cron/zone/civil.h"

/*
 * Years are counted from March, so that the leap day is a year's last; eras of 400 years have the
 * same 146,097 days each.
 */
#define ERA_DAYS 146097
#define EPOCH_DAYS 719468 /* from 0000-03-01 to 1970-01-01 */

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

int64_t civil_days(int32_t year, int32_t month, int32_t day)
{
	int64_t y = (int64_t)year - (month <= 2);
	int64_t era = floor_div(y, 400);
	int64_t year_of_era = y - era * 400;
	int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return era * ERA_DAYS + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 +
	       day_of_year - EPOCH_DAYS;
}

void civil_from_days(int64_t days, int32_t *ret_year, int32_t *ret_month, int32_t *ret_day)
{
	int64_t since = days + EPOCH_DAYS;
	int64_t era = floor_div(since, ERA_DAYS);
	uint32_t in_era = (uint32_t)(since - era * ERA_DAYS);
	uint32_t year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
	uint32_t in_year = in_era - (365 * year + year / 4 - year / 100);
	uint32_t march_month = (5 * in_year + 2) / 153;

	*ret_day = (int32_t)(in_year - (153 * march_month + 2) / 5 + 1);
	*ret_month = (int32_t)(march_month < 10 ? march_month + 3 : march_month - 9);
	*ret_year = (int32_t)((int64_t)year + era * 400 + (*ret_month <= 2));
}

int32_t civil_weekday(int64_t days)
{
	return (int32_t)(((days + 4) % 7 + 7) % 7); /* 1970-01-01 was a Thursday */
}

bool civil_leap(int32_t year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int32_t civil_month_days(int32_t year, int32_t month)
{
	static const int8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

	return days[month - 1] + (month == 2 && civil_leap(year));
}

int64_t civil_seconds(const struct civil *c)
{
	return civil_days(c->year, c->month, c->day) * DAY_SECONDS + c->hour * 3600 +
	       c->minute * 60 + c->second;
}

struct civil civil_from_seconds(int64_t local)
{
	int64_t days = floor_div(local, DAY_SECONDS);
	int32_t rest = (int32_t)(local - days * DAY_SECONDS);
	struct civil c = {.hour = rest / 3600, .minute = rest / 60 % 60, .second = rest % 60};

	civil_from_days(days, &c.year, &c.month, &c.day);
	return c;
}
