/* SPDX-License-Identifier: Apache-2.0 */
#include "action/transfer.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

#define PIECE_BYTES ((size_t)1 << 16)
#define PIECES_A_TURN 16

bool transfer_is_download(const struct transfer *t)
{
	return t->node->action->kind == ACTION_DOWNLOAD;
}

const struct action_transfer *transfer_spec(const struct transfer *t)
{
	return &t->node->action->transfer;
}

const char *size_text(int64_t bytes, char out[32])
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
	double n = (double)bytes / 1024;
	int unit = 0;

	if (bytes < 1024) {
		snprintf(out, 32, "%lld byte%s", (long long)bytes, bytes == 1 ? "" : "s");
		return out;
	}
	for (; n >= 1000 && unit < 3; unit++)
		n /= 1024;
	snprintf(out, 32, "%.1f %s", n, units[unit]);
	return out;
}

int file_url_path(const char *url, char *out, size_t size)
{
	CURLU *u = curl_url();
	char *path = NULL;
	int n = -1;

	if (curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK &&
	    curl_url_get(u, CURLUPART_PATH, &path, CURLU_URLDECODE) == CURLUE_OK)
		n = snprintf(out, size, "%s", path);
	curl_free(path);
	curl_url_cleanup(u);
	return n > 1 && (size_t)n < size ? 0 : ERR_INVALID;
}

static int too_large(struct transfer *t, int64_t bytes)
{
	char most[32];

	if (bytes <= transfer_spec(t)->max_bytes)
		return 0;
	snprintf(t->why, sizeof t->why, "it is larger than %s, which is its max_bytes",
	    size_text(transfer_spec(t)->max_bytes, most));
	return ERR_IO;
}

static int open_source(struct transfer *t, const char *path)
{
	struct stat st;

	/* not blocking: of a pipe nobody may ever open the other end */
	t->in_fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (t->in_fd < 0 || fstat(t->in_fd, &st) < 0) {
		snprintf(t->why, sizeof t->why, "cannot read %.200s: %s", path, strerror(errno));
		return ERR_IO;
	}
	if (!S_ISREG(st.st_mode)) {
		snprintf(t->why, sizeof t->why, "%.200s is not a regular file", path);
		return ERR_IO;
	}
	t->in_size = st.st_size;
	return too_large(t, st.st_size);
}

/* Of a download the URL is where it comes from, of an upload where it goes. */
int transfer_open(struct transfer *t)
{
	const struct action_transfer *a = transfer_spec(t);
	struct str url = transfer_is_download(t) ? a->from : a->to;
	const char *from = a->from.p, *to = a->to.p;
	char path[ACTION_PATH_MAX];

	t->is_http = !str_starts(url, "file:");
	if (!t->is_http && file_url_path(url.p, path, sizeof path) < 0) {
		snprintf(t->why, sizeof t->why, "%.200s names no file", url.p);
		return ERR_IO;
	}
	if (!t->is_http && transfer_is_download(t))
		from = path;
	else if (!t->is_http)
		to = path;
	if (digest_init(&t->digest, a->digest) < 0) {
		snprintf(t->why, sizeof t->why, "this host cannot compute such checksums");
		return ERR_IO;
	}
	if (!(t->is_http && transfer_is_download(t)) && open_source(t, from) < 0)
		return ERR_IO;
	if (!(t->is_http && !transfer_is_download(t)))
		return sink_open(&t->sink, to, t->why, sizeof t->why);
	return 0;
}

int transfer_take(struct transfer *t, const void *p, size_t n)
{
	t->n_bytes += (int64_t)n;
	digest_add(&t->digest, p, n);
	if (too_large(t, t->n_bytes) < 0)
		return ERR_IO;
	return sink_write(&t->sink, p, n, t->why, sizeof t->why);
}

int transfer_copy(struct transfer *t)
{
	char piece[PIECE_BYTES];

	for (int i = 0; i < PIECES_A_TURN; i++) {
		ssize_t n = read(t->in_fd, piece, sizeof piece);

		if (n == 0)
			return 0;
		if (n < 0) {
			snprintf(t->why, sizeof t->why, "reading stopped: %s", strerror(errno));
			return ERR_IO;
		}
		if (transfer_take(t, piece, (size_t)n) < 0)
			return ERR_IO;
	}
	return 1;
}

int transfer_check(struct transfer *t)
{
	const struct action_transfer *a = transfer_spec(t);

	if (t->checked || a->digest == DIGEST_NONE)
		return 0;
	if (t->in_fd >= 0 && t->n_bytes < t->in_size) {
		snprintf(t->why, sizeof t->why, "not all of it was taken");
		return ERR_IO;
	}
	t->checked = true;
	return digest_is(&t->digest, a->checksum, t->why, sizeof t->why) ? 0 : ERR_IO;
}

int transfer_commit(struct transfer *t)
{
	if (t->sink.fd < 0)
		return 0;
	if (transfer_check(t) < 0)
		return ERR_IO;
	return sink_commit(&t->sink, transfer_spec(t)->mode, t->why, sizeof t->why);
}

void transfer_release(struct transfer *t)
{
	if (t->in_fd >= 0)
		close(t->in_fd);
	t->in_fd = -1;
	sink_abandon(&t->sink);
	digest_release(&t->digest);
}
