/* SPDX-License-Identifier: Apache-2.0 */
/* make and ninja beside Reeve, on the same jobs: two at once. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/cases/dag.h"

struct peer {
	const char *name, *file;
	void (*tell)(const struct dag *d, struct buf *out);
};

static const struct peer peers[N_DAG_PEERS] = {
    [PEER_MAKE] = {"make", "dag.mk", dag_as_makefile},
    [PEER_NINJA] = {"ninja", "dag.ninja", dag_as_ninja},
};

static int write_file(const char *path, const struct buf *text)
{
	FILE *f = fopen(path, "we");

	if (!f)
		return ERR_IO;
	fwrite(text->p, 1, text->n, f);
	return fclose(f) ? ERR_IO : 0;
}

double dag_peer_seconds(struct bench *b, enum dag_peer which, const struct dag *d)
{
	const struct peer *p = &peers[which];
	AUTO(buf_release) struct buf text = {0};
	AUTO(free_cstr) char *path = xasprintf("%s/%s", b->dir, p->file);
	AUTO(free_cstr) char *log = xasprintf("%s/%s.log", b->dir, p->name);
	const char *argv[] = {p->name, "-j2", "-C", b->dir, "-f", p->file, NULL};
	struct problem ignored = {0};
	double start;
	pid_t pid;
	int code;

	p->tell(d, &text);
	if (write_file(path, &text) < 0)
		return NAN;
	start = bench_seconds();
	pid = child_start_other(argv, log, &ignored);
	code = pid > 0 ? child_wait(&pid, b->limit_ms) : -1;
	unlink(path);
	if (code != 0) {
		bench_note("%s did not do it (exit code %d): is it installed?", p->name, code);
		return NAN;
	}
	return bench_seconds() - start;
}
