/* SPDX-License-Identifier: Apache-2.0 */
/* The small parts of the runner: texts, checksums, files that are there whole or not at all. */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "action/digest.h"
#include "action/outcome.h"
#include "action/runs.h"
#include "action/sink.h"
#include "action/transfer.h"
#include "base/mem.h"
#include "model/limits.h"

static char folder[] = "/tmp/reeve-parts-XXXXXX";
static char why[512];

static void test_end_texts(void **state)
{
	char text[64];

	assert_string_equal(run_end_text(CLD_EXITED, 3, text, sizeof text), "Exited with status 3");
	assert_string_equal(
	    run_end_text(CLD_KILLED, 9, text, sizeof text), "Exited with signal 9 (SIGKILL)");
	assert_string_equal(
	    run_end_text(CLD_DUMPED, 11, text, sizeof text), "Exited with signal 11 (SIGSEGV)");
	assert_string_equal(
	    run_end_text(CLD_KILLED, 40, text, sizeof text), "Exited with signal 40");
}

static void test_size_texts(void **state)
{
	char text[32];

	assert_string_equal(size_text(0, text), "0 bytes");
	assert_string_equal(size_text(1, text), "1 byte");
	assert_string_equal(size_text(1023, text), "1023 bytes");
	assert_string_equal(size_text(1536, text), "1.5 KiB");
	assert_string_equal(size_text(4LL << 30, text), "4.0 GiB");
	assert_string_equal(size_text(INT64_MAX, text), "8388608.0 TiB");
}

static void test_file_urls(void **state)
{
	char path[64];

	assert_int_equal(file_url_path("file:///a/b", path, sizeof path), 0);
	assert_string_equal(path, "/a/b");
	assert_int_equal(file_url_path("file:///a%20b%25", path, sizeof path), 0);
	assert_string_equal(path, "/a b%");
	assert_true(file_url_path("file:///", path, sizeof path) < 0);
	assert_true(file_url_path("file:///a%00b", path, sizeof path) < 0);
	assert_true(file_url_path("file:///abcdef", path, 5) < 0); /* it does not fit */
}

static void outcome_is(struct outcome o, const char *expected)
{
	struct buf b = {0};

	outcome_text(&o, &b);
	assert_string_equal(b.p, expected);
	buf_release(&b);
}

static void test_outcomes(void **state)
{
	struct outcome good = {.kind = OUTCOME_GOOD};
	struct outcome long_one = {OUTCOME_FAILED, 1, NULL};
	struct buf b = {0}, text = {0};

	outcome_is(good, "{\"status\":1}");
	outcome_is((struct outcome){OUTCOME_FAILED, 1, "a \"b\"\nc\xff"},
	    "{\"status\":2,\"reason\":\"a \\\"b\\\" c?\"}");
	for (int i = 0; i < 1000; i++)
		buf_add_cstr(&text, "é");
	long_one.text = text.p;
	outcome_text(&long_one, &b);
	assert_in_range(b.n, 500, REASON_MAX_BYTES + 32);
	buf_release(&b);
	buf_release(&text);
}

static bool sum_is(enum action_digest kind, const char *hex)
{
	unsigned char wanted[ACTION_DIGEST_MAX];
	struct digest d;
	bool is;

	for (size_t i = 0; hex[2 * i]; i++)
		assert_int_equal(sscanf(hex + 2 * i, "%2hhx", &wanted[i]), 1);
	assert_int_equal(digest_init(&d, kind), 0);
	digest_add(&d, "ab", 2);
	digest_add(&d, "c", 1);
	is = digest_is(&d, wanted, why, sizeof why);
	digest_release(&d);
	return is;
}

static void test_digests(void **state)
{
	assert_true(sum_is(DIGEST_NONE, ""));
	assert_true(sum_is(DIGEST_MD5, "900150983cd24fb0d6963f7d28e17f72"));
	assert_true(sum_is(DIGEST_SHA1, "a9993e364706816aba3e25717850c26c9cd0d89d"));
	assert_true(sum_is(
	    DIGEST_SHA256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
	assert_false(sum_is(DIGEST_MD5, "900150983cd24fb0d6963f7d28e17f73"));
	assert_string_equal(why, "the md5 checksum is 900150983cd24fb0d6963f7d28e17f72, "
	                         "not 900150983cd24fb0d6963f7d28e17f73");
}

static int files_in(const char *path)
{
	DIR *d = opendir(path);
	int n = -2; /* "." and ".." */

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static const char *target(void)
{
	static char path[64];

	snprintf(path, sizeof path, "%s/target", folder);
	return path;
}

static void write_sink(const char *text, int mode, bool commit)
{
	struct sink s;

	assert_int_equal(sink_open(&s, target(), why, sizeof why), 0);
	assert_int_equal(sink_write(&s, text, strlen(text), why, sizeof why), 0);
	if (commit)
		assert_int_equal(sink_commit(&s, mode, why, sizeof why), 0);
	else
		sink_abandon(&s);
	assert_int_equal(s.fd, -1);
}

static void target_is(const char *text, mode_t mode)
{
	char got[64] = {0};
	struct stat st;
	int fd = open(target(), O_RDONLY);

	assert_true(fd >= 0 && read(fd, got, sizeof got - 1) >= 0 && fstat(fd, &st) == 0);
	close(fd);
	assert_string_equal(got, text);
	assert_int_equal(st.st_mode & 0777, mode);
	assert_int_equal(files_in(folder), 1);
}

static void test_sink(void **state)
{
	umask(027);
	write_sink("nothing", ACTION_MODE_UNSET, false);
	assert_int_equal(files_in(folder), 0);
	write_sink("one", ACTION_MODE_UNSET, true);
	target_is("one", 0640);
	write_sink("two", 0777, true); /* takes the place of the first */
	target_is("two", 0777);
	write_sink("three", 0600, false);
	target_is("two", 0777);
	unlink(target());
}

static void test_sink_where_it_can_not_be(void **state)
{
	struct sink s;

	assert_true(sink_open(&s, folder, why, sizeof why) < 0);
	assert_non_null(strstr(why, "is a directory"));
	assert_true(sink_open(&s, "/nonexistent/x", why, sizeof why) < 0);
	assert_string_equal(why, "cannot write into /nonexistent/: No such file or directory");
	assert_int_equal(s.fd, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_end_texts),
	    cmocka_unit_test(test_size_texts),
	    cmocka_unit_test(test_file_urls),
	    cmocka_unit_test(test_outcomes),
	    cmocka_unit_test(test_digests),
	    cmocka_unit_test(test_sink),
	    cmocka_unit_test(test_sink_where_it_can_not_be),
	};
	int failed;

	if (!mkdtemp(folder))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(folder);
	return failed;
}
