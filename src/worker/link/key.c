/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker's key: made once, kept in the state directory, proven on every connection. Whoever
 * has it is this worker to the server, across restarts; nobody else is, whatever he knows of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "worker/internal.h"

static void make(unsigned char ret[PROOF_KEY_BYTES])
{
	for (size_t i = 0; i < PROOF_KEY_BYTES; i += sizeof(uint64_t)) {
		uint64_t bits = clock_random();

		memcpy(ret + i, &bits, sizeof bits);
	}
}

static int bad_key(struct problem *p, const char *path, const char *what, const char *hint)
{
	problem_set(p, ERR_INVALID, "%s %s", path, what);
	return problem_hint(p, "%s", hint), ERR_INVALID;
}

static int read_key(int fd, const char *path, unsigned char ret[PROOF_KEY_BYTES], struct problem *p)
{
	unsigned char bytes[PROOF_KEY_BYTES + 1];
	struct stat st;

	if (fstat(fd, &st) < 0)
		return problem_set(p, ERR_IO, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) || (st.st_mode & 077) || (st.st_uid != geteuid() && geteuid()))
		return bad_key(p, path, "is the worker's key, but not its alone",
		    "chown it to the worker's user, and chmod 600; if others may have read it, "
		    "remove it: then this is a new worker, which gets its name when the old one "
		    "is lost");
	if (read(fd, bytes, sizeof bytes) != PROOF_KEY_BYTES)
		return bad_key(p, path, "is not a worker's key",
		    "remove it: then this is a new worker, which gets its name when the old one "
		    "is lost (or with reeve worker rm --lost)");
	memcpy(ret, bytes, PROOF_KEY_BYTES);
	explicit_bzero(bytes, sizeof bytes);
	return 0;
}

/* Whole or not at all, and never in anybody else's sight. */
static int write_key(const char *dir, const char *path, const unsigned char key[PROOF_KEY_BYTES])
{
	AUTO(free_cstr) char *fresh = xasprintf("%s.new", path);
	int fd, r;

	unlink(fresh);
	fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	r = write(fd, key, PROOF_KEY_BYTES) != PROOF_KEY_BYTES || fsync(fd) < 0 ? -1 : 0;
	process_close(&fd);
	return r < 0 || rename(fresh, path) < 0 ? -1 : state_sync(dir);
}

int key_take(struct worker *w, struct problem *p)
{
	AUTO(free_cstr) char *path = xasprintf("%s/key", w->o->state_dir);
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), r = 0;

	if (fd >= 0) {
		r = read_key(fd, path, w->secret, p);
		process_close(&fd);
	} else if (errno == ENOENT) {
		make(w->secret);
		if (write_key(w->o->state_dir, path, w->secret) < 0)
			r = problem_set(p, ERR_IO, "%s: %s", path, strerror(errno));
	} else {
		r = problem_set(p, ERR_IO, "%s: %s", path, strerror(errno));
	}
	return r;
}

void key_knock(struct worker *w, struct str challenge)
{
	unsigned char public[PROOF_KEY_BYTES], signature[PROOF_SIGNATURE_BYTES];
	struct link_knock k = {.protocol = LINK_PROTOCOL,
	    .shard = w->facts.shard,
	    .instance = w->facts.instance,
	    .key = {(char *)public, sizeof public},
	    .signature = {(char *)signature, sizeof signature}};
	struct link_to_server m = {.knock = &k};
	struct buf b = {0};

	if (w->o->on_knock)
		w->o->on_knock(w->o->config_arg);
	k.join_token = str_of(w->o->join_token);
	link_proof(challenge, k.instance, k.shard, &b);
	proof_public(w->secret, public);
	proof_sign(w->secret, buf_str(&b), signature);
	buf_reset(&b);
	link_encode_to_server(&m, &w->frame_arena, &b);
	link_send(w->link, buf_str(&b));
	buf_release(&b);
}
