/* SPDX-License-Identifier: Apache-2.0 */
/* What the brain is told of zones: once, again when a file changes, and never a zone that is gone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../base/log_file.h"
#include "base/mem.h"
#include "server/engine/time_zones.h"

static struct loop *loop;
static struct time_zones *zones;
static char dir[] = "/tmp/reeve-zones-XXXXXX";
static char path[64];
static int told, wanted, taken_back;
static bool is_needed;
static int32_t offset; /* of the zone told last */
static const struct cron_zone *before;

/* As the brain does: it looks at the zone it had until the new one is in its hands. */
static void feed(struct event *ev, void *arg)
{
	assert_int_equal(ev->kind, EV_ZONE);
	if (before)
		assert_int_equal(cron_zone_offset(before, 0), offset);
	before = ev->zone.zone;
	if (!before) {
		if (++taken_back == wanted)
			loop_stop(loop);
		return;
	}
	offset = cron_zone_offset(before, 0);
	if (++told == wanted)
		loop_stop(loop);
}

static bool needs(struct str name, void *arg)
{
	return is_needed;
}

/* As a package is installed: another file under the old name. */
static void put(const char *name)
{
	char from[128], fresh[80], bytes[8192];
	FILE *f;
	size_t n;

	snprintf(from, sizeof from, "/usr/share/zoneinfo/%s", name);
	snprintf(fresh, sizeof fresh, "%s.new", path);
	f = fopen(from, "re");
	assert_non_null(f);
	n = fread(bytes, 1, sizeof bytes, f);
	fclose(f);
	f = fopen(fresh, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
	assert_int_equal(rename(fresh, path), 0);
}

static int set_up(void **state)
{
	struct time_zones_options o = {.dir = dir, .refresh_ms = 10, .feed = feed, .needs = needs};

	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/Town", dir);
	loop = loop_new();
	zones = time_zones_new(loop, &o);
	told = wanted = taken_back = 0;
	is_needed = true;
	before = NULL;
	return 0;
}

static int tear_down(void **state)
{
	time_zones_free(zones);
	loop_free(loop);
	unlink(path);
	rmdir(dir);
	return 0;
}

static void test_told_once_and_when_it_changes(void **state)
{
	struct problem p = {0};

	put("Etc/GMT-1");
	assert_int_equal(time_zones_need(zones, STR("Town"), &p), 0);
	assert_int_equal(time_zones_need(zones, STR("Town"), &p), 0);
	assert_int_equal(told, 1);
	assert_int_equal(offset, 3600);
	put("Etc/GMT-2");
	wanted = 2;
	loop_run(loop);
	assert_int_equal(offset, 7200);
}

static void test_found_later(void **state)
{
	struct problem p = {0};

	assert_int_equal(time_zones_need(zones, STR("Town"), &p), ERR_NOT_FOUND);
	assert_int_equal(told, 0);
	put("Etc/GMT-3");
	wanted = 1;
	loop_run(loop);
	assert_int_equal(offset, 3 * 3600);
}

static void test_what_nobody_needs_is_taken_back(void **state)
{
	struct problem p = {0};

	put("Etc/GMT-1");
	assert_int_equal(time_zones_need(zones, STR("Town"), &p), 0);
	assert_int_equal(time_zones_need(zones, STR("Nowhere"), &p), ERR_NOT_FOUND);
	assert_int_equal(time_zones_count(zones), 2);
	is_needed = false;
	wanted = 2;
	loop_run(loop);
	assert_int_equal(time_zones_count(zones), 0);
	is_needed = true;
	before = NULL;
	assert_int_equal(time_zones_need(zones, STR("Town"), &p), 0);
	assert_int_equal(told, 2); /* as if for the first time */
	assert_int_equal(offset, 3600);
}

static void test_looking_tells_nobody(void **state)
{
	struct zone_ref *ref;
	struct problem p = {0};

	assert_int_equal(time_zones_get(zones, STR("+05:30"), &ref, &p), 0);
	assert_int_equal(cron_zone_offset(ref->zone, 0), 19800);
	zone_ref_drop(ref);
	assert_int_equal(told, 0);
}

static void damage(void)
{
	FILE *f;

	unlink(path);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs("no zone at all", f);
	fclose(f);
}

static size_t logged(const char *word)
{
	struct buf b = {0};
	size_t n = 0;

	read_log(log_path, &b);
	for (const char *at = b.p; (at = strstr(at, word)); at++)
		n++;
	buf_release(&b);
	return n;
}

static int looks;
static struct loop_timer *look_timer;

/* Some looks later than the first that found it damaged, it is mended. */
static void look(void *arg)
{
	looks += logged("stays as it was") > 0;
	if (looks == 5)
		put("Etc/GMT-2");
	if (!logged("can be read again"))
		loop_timer_set(look_timer, 10);
	else
		loop_stop(loop);
}

static void test_a_damaged_file_is_logged_once(void **state)
{
	struct problem p = {0};

	assert_int_equal(log_to_file(LOG_HUMAN, LOG_FILE, LOG_INFO), 0);
	put("Etc/GMT-1");
	assert_int_equal(time_zones_need(zones, STR("Town"), &p), 0);
	damage();
	look_timer = loop_timer_new(loop, look, NULL);
	looks = 0;
	loop_timer_set(look_timer, 10);
	loop_run(loop);
	loop_timer_free(look_timer);
	assert_int_equal(logged("stays as it was"), 1);
	assert_int_equal(logged("can be read again"), 1);
	assert_int_equal(told, 2);
	log_done();
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {T(test_told_once_and_when_it_changes),
	    T(test_found_later), T(test_what_nobody_needs_is_taken_back),
	    T(test_looking_tells_nobody), T(test_a_damaged_file_is_logged_once)};

	return cmocka_run_group_tests_name("server/time_zones", tests, NULL, NULL);
}
