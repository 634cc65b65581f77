/* SPDX-License-Identifier: Apache-2.0 */
#include "base/world/private.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

#define NOBODY 65534

/* A folder of our own with a folder "d" and a file "d/f" in it. */
struct place {
	char root[32];
	char *dir, *file;
};

static int setup(void **state)
{
	struct place *t = xcalloc(1, sizeof *t);

	strcpy(t->root, "/tmp/private-XXXXXX");
	assert_non_null(mkdtemp(t->root));
	t->dir = xasprintf("%s/d", t->root);
	t->file = xasprintf("%s/f", t->dir);
	assert_int_equal(mkdir(t->dir, 0700), 0);
	assert_int_equal(close(open(t->file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600)), 0);
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct place *t = *state;

	unlink(t->file);
	rmdir(t->dir);
	unlink(t->dir);
	rmdir(t->root);
	free(t->dir);
	free(t->file);
	free(t);
	return 0;
}

static void assert_refused(int e, const struct problem *p, const char *what, const char *hint)
{
	assert_int_equal(e, ERR_DENIED);
	assert_int_equal(p->code, ERR_DENIED);
	assert_non_null(strstr(p->what, what));
	assert_non_null(strstr(p->hint, hint));
}

static void test_folders(void **state)
{
	struct place *t = *state;
	struct problem p = {0};

	assert_int_equal(private_dir(t->dir, 0, &p), 0);
	assert_int_equal(chmod(t->dir, 0755), 0);
	assert_int_equal(private_dir(t->dir, 0, &p), 0);
	assert_int_equal(private_dir("/nowhere/at/all", 0, &p), 0);
	for (int i = 0; i < 3; i++) { /* a sticky one takes new files from all */
		assert_int_equal(chmod(t->dir, (mode_t[]){0777, 0770, 01777}[i]), 0);
		assert_refused(private_dir(t->dir, 0, &p), &p, "others may write in /tmp/private-",
		    "chmod go-w /tmp/private-");
	}
}

static void test_folders_above(void **state)
{
	struct place *t = *state;
	struct problem p = {0};

	assert_int_equal(chmod(t->root, 01777), 0);
	assert_int_equal(private_dir(t->dir, 0, &p), 0);
	assert_int_equal(chmod(t->root, 0777), 0);
	assert_refused(private_dir(t->dir, 0, &p), &p, "others may write in", "chmod o-w");
	assert_null(strstr(p.what, "/d"));
}

static void test_files(void **state)
{
	struct place *t = *state;
	struct problem p = {0};

	assert_int_equal(private_place(t->file, &p), 0);
	assert_int_equal(chmod(t->file, 0644), 0);
	assert_int_equal(private_place(t->file, &p), 0);
	assert_int_equal(chmod(t->file, 0620), 0);
	assert_refused(private_place(t->file, &p), &p, "others may write", "chmod go-w");
	assert_int_equal(unlink(t->file), 0);
	assert_int_equal(private_place(t->file, &p), 0); /* it will be made */
	assert_int_equal(symlink("/etc/passwd", t->file), 0);
	assert_refused(private_place(t->file, &p), &p, "is a symbolic link", "name the file");
	assert_int_equal(unlink(t->file), 0);
	assert_int_equal(symlink("nothing", t->file), 0);
	assert_refused(private_place(t->file, &p), &p, "is a symbolic link", "name the file");
}

static int secret(const struct place *t, mode_t mode, struct problem *p)
{
	int fd, e;

	assert_int_equal(chmod(t->file, mode), 0);
	fd = open(t->file, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	e = private_secret(fd, t->file, p);
	close(fd);
	return e;
}

static void test_secrets(void **state)
{
	struct place *t = *state;
	struct problem p = {0};
	int ends[2];

	assert_int_equal(secret(t, 0600, &p), 0);
	assert_int_equal(secret(t, 0440, &p), 0);
	assert_refused(secret(t, 0644, &p), &p, "others may read", "chmod o-rwx");
	assert_refused(secret(t, 0666, &p), &p, "others may write", "chmod o-rwx");
	assert_refused(secret(t, 0660, &p), &p, "others may write", "chmod g-w");
	assert_int_equal(pipe(ends), 0); /* as a shell's <(…) gives it */
	assert_int_equal(private_secret(ends[0], "/dev/fd/3", &p), 0);
	close(ends[0]);
	close(ends[1]);
}

static void test_other_owners(void **state)
{
	struct place *t = *state;
	struct problem p = {0};

	if (geteuid() != 0)
		skip();
	assert_int_equal(chown(t->file, NOBODY, NOBODY), 0);
	assert_refused(private_place(t->file, &p), &p, "65534", "chown 0");
	assert_refused(secret(t, 0600, &p), &p, "65534", "chown 0");
	assert_int_equal(chown(t->dir, NOBODY, NOBODY), 0);
	assert_refused(private_dir(t->dir, 0, &p), &p, "65534", "chown 0");
	assert_int_equal(private_dir(t->dir, NOBODY, &p), 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(test_folders),
	    T(test_folders_above),
	    T(test_files),
	    T(test_secrets),
	    T(test_other_owners),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
