/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of spools share: a directory, a pipe to pour into, a stream that knows itself. */
#ifndef TEST_WORKER_SPOOL_WORLD_H
#define TEST_WORKER_SPOOL_WORLD_H

#include "worker/jobs/spool.h"

#define KIB 1024
#define MIB (1024 * 1024)

struct world {
	char root[64], dir[96];
	int pipe[2];
	struct spool s;
};

extern char scratch[2 * MIB];

int set_up(void **state);
int tear_down(void **state);
void open_spool(struct world *w, bool keep, int64_t max, enum output_policy policy);
char byte_at(int64_t n);
void write_pipe(struct world *w, const char *p, size_t n);
void pour(struct world *w, int64_t from, size_t n);
void assert_stream(struct world *w, int64_t from, size_t n);
void assert_text(struct world *w, const char *wanted);
void end_pipe(struct world *w);
int64_t disk_bytes(const struct spool *s);
int files_in(const char *dir);
void crash(struct world *w);
void reopen(struct world *w, int64_t max);

#define SPOOL_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

#endif
