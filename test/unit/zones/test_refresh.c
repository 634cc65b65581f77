/* SPDX-License-Identifier: Apache-2.0 */
/* Zone files that change while they are held. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "zone_folder.h"

struct told {
	struct zones *zones;
	size_t n;
	char name[64];
	int32_t offset;
};

static void remember(struct str name, struct zone_ref *now, void *arg)
{
	struct told *t = arg;

	t->n++;
	snprintf(t->name, sizeof t->name, STR_FMT, STR_ARG(name));
	t->offset = cron_zone_offset(now->zone, 0);
}

static size_t refresh(struct folder *f, struct told *ret_told)
{
	size_t n;

	*ret_told = (struct told){.zones = f->zones};
	n = zones_refresh(f->zones, remember, ret_told);
	assert_int_equal(n, ret_told->n);
	return n;
}

static void test_replaced_file(void **state)
{
	struct folder *f = *state;
	struct zone_ref *old, *new;
	struct told told;

	folder_put(f, "Here", 3600, "HER");
	folder_put(f, "Other", 60, "OTH");
	old = get(f->zones, "Here");
	zone_ref_drop(get(f->zones, "Other"));
	assert_int_equal(refresh(f, &told), 0);
	folder_put(f, "Here", 7200, "HER");
	assert_int_equal(refresh(f, &told), 1);
	assert_string_equal(told.name, "Here");
	assert_int_equal(told.offset, 7200);
	new = get(f->zones, "Here");
	assert_int_equal(cron_zone_offset(old->zone, 0), 3600); /* held: it stays as it was */
	assert_int_equal(cron_zone_offset(new->zone, 0), 7200);
	assert_int_equal(refresh(f, &told), 0);
	assert_int_equal(old->refs, 1);
	zone_ref_drop(old);
	zone_ref_drop(new);
}

static struct timespec changed_at(const char *path)
{
	struct stat st;

	MUST(stat(path, &st) == 0);
	return st.st_ctim;
}

/* Same inode, size and time of modification: only the inode's own time gives it away, and that
 * moves in ticks of some milliseconds. */
static void write_in_place(const char *path, int32_t offset)
{
	struct timespec same[2] = {{1000, 5}, {1000, 5}}, before = changed_at(path), now;
	uint8_t bytes[54];
	int fd;

	constant_zone(offset, "HER", bytes);
	do {
		fd = open(path, O_WRONLY);
		MUST(fd >= 0 && write(fd, bytes, sizeof bytes) == sizeof bytes && close(fd) == 0);
		MUST(utimensat(AT_FDCWD, path, same, 0) == 0);
		now = changed_at(path);
	} while (now.tv_sec == before.tv_sec && now.tv_nsec == before.tv_nsec);
}

static void test_written_in_place(void **state)
{
	struct folder *f = *state;
	struct told told;

	folder_put(f, "Here", 3600, "HER");
	write_in_place(folder_path(f, "Here"), 3600);
	zone_ref_drop(get(f->zones, "Here"));
	write_in_place(folder_path(f, "Here"), 7200);
	assert_int_equal(refresh(f, &told), 1);
	assert_int_equal(told.offset, 7200);
}

static void test_same_content_is_no_change(void **state)
{
	struct folder *f = *state;
	struct zone_ref *old, *now;
	struct told told;

	folder_put(f, "Here", 3600, "HER");
	old = get(f->zones, "Here");
	folder_put(f, "Here", 3600, "HER");
	assert_int_equal(refresh(f, &told), 0);
	now = get(f->zones, "Here");
	assert_ptr_equal(now, old);
	zone_ref_drop(old);
	zone_ref_drop(now);
}

static void test_another_link(void **state)
{
	struct folder *f = *state;
	struct told told;

	folder_put(f, "Here", 3600, "HER");
	folder_put(f, "There", 7200, "THE");
	folder_link(f, "Here", "localtime");
	zone_ref_drop(get(f->zones, "local"));
	folder_link(f, "There", "localtime");
	assert_int_equal(refresh(f, &told), 1);
	assert_string_equal(told.name, "local");
	assert_int_equal(told.offset, 7200);
	unlink(folder_path(f, "localtime"));
	assert_int_equal(refresh(f, &told), 1);
	assert_int_equal(told.offset, 0); /* no file: UTC */
	assert_int_equal(refresh(f, &told), 0);
}

static void test_broken_file_changes_nothing(void **state)
{
	struct folder *f = *state;
	struct zone_ref *ref;
	struct problem p = {0};
	struct told told;

	folder_put(f, "Here", 3600, "HER");
	folder_put(f, "There", 3600, "HER");
	ref = get(f->zones, "Here");
	zone_ref_drop(get(f->zones, "There"));
	folder_write(f, "Here", "TZif", 4);
	assert_int_equal(refresh(f, &told), 0);
	assert_int_equal(zones_stale(f->zones, &p), 1);
	assert_non_null(strstr(p.what, "damaged"));
	unlink(folder_path(f, "Here"));
	assert_int_equal(refresh(f, &told), 0);
	assert_int_equal(zones_stale(f->zones, &p), 1);
	assert_non_null(strstr(p.what, "no file"));
	zone_ref_drop(get(f->zones, "Here")); /* still known */
	folder_put(f, "Here", 60, "NEW");
	assert_int_equal(refresh(f, &told), 1);
	assert_int_equal(told.offset, 60);
	assert_int_equal(zones_stale(f->zones, NULL), 0);
	zone_ref_drop(ref);
}

/* Enough new names to make the cache forget what nobody holds, in the middle of telling. */
static void ask_much(struct str name, struct zone_ref *now, void *arg)
{
	struct told *t = arg;
	char other[32];

	for (int i = 0; i < 600; i++) {
		snprintf(other, sizeof other, "A%cA%d:%02d", 'A' + (char)t->n, i / 60, i % 60);
		zone_ref_drop(get(t->zones, other));
	}
	remember(name, now, arg);
}

static void test_asking_while_told(void **state)
{
	struct folder *f = *state;
	struct told told = {.zones = f->zones};
	char name[16];

	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof name, "Zone%02d", i);
		folder_put(f, name, 3600, "HER");
		zone_ref_drop(get(f->zones, name));
	}
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof name, "Zone%02d", i);
		folder_put(f, name, 7200, "HER");
	}
	assert_int_equal(zones_refresh(f->zones, ask_much, &told), 20);
	assert_int_equal(told.n, 20);
	assert_int_equal(told.offset, 7200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_replaced_file, folder_setup, folder_teardown),
	    cmocka_unit_test_setup_teardown(test_written_in_place, folder_setup, folder_teardown),
	    cmocka_unit_test_setup_teardown(
	        test_same_content_is_no_change, folder_setup, folder_teardown),
	    cmocka_unit_test_setup_teardown(test_another_link, folder_setup, folder_teardown),
	    cmocka_unit_test_setup_teardown(
	        test_broken_file_changes_nothing, folder_setup, folder_teardown),
	    cmocka_unit_test_setup_teardown(test_asking_while_told, folder_setup, folder_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
