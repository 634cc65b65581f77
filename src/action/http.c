/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One transfer by libcurl: http and https only, also by redirect, and never from https back to
 * http.
 */
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "action/transfer.h"
#include "base/err.h"

#define REDIRECTS_MAX 5L

_Static_assert(sizeof((struct transfer *)0)->error >= CURL_ERROR_SIZE, "room for curl's words");

static size_t on_body(char *p, size_t size, size_t n, void *arg)
{
	struct transfer *t = arg;

	if (t->sink.fd < 0)
		return size * n; /* what a server says to an upload does not matter */
	return transfer_take(t, p, size * n) < 0 ? 0 : size * n;
}

/*
 * The last piece of a file is held back until the checksum is known to be right: a server that gets
 * less than was announced does not take it for the file.
 */
static size_t on_read(char *p, size_t size, size_t n, void *arg)
{
	struct transfer *t = arg;
	int64_t left = t->in_size - t->n_bytes;
	ssize_t got = read(t->in_fd, p, left < (int64_t)(size * n) ? (size_t)left : size * n);

	if (got < 0) {
		snprintf(t->why, sizeof t->why, "reading stopped: %s", strerror(errno));
		return CURL_READFUNC_ABORT;
	}
	t->n_bytes += got;
	digest_add(&t->digest, p, (size_t)got);
	if (got > 0 && t->n_bytes == t->in_size && transfer_check(t) < 0)
		return CURL_READFUNC_ABORT;
	return (size_t)got;
}

/* A redirected upload begins anew. */
static int on_seek(void *arg, curl_off_t offset, int origin)
{
	struct transfer *t = arg;

	if (offset != 0 || origin != SEEK_SET || lseek(t->in_fd, 0, SEEK_SET) < 0)
		return CURL_SEEKFUNC_FAIL;
	digest_release(&t->digest);
	if (digest_init(&t->digest, transfer_spec(t)->digest) < 0)
		return CURL_SEEKFUNC_FAIL;
	t->n_bytes = 0;
	t->checked = false;
	return CURL_SEEKFUNC_OK;
}

static long at_most(int64_t n, long most)
{
	return n < most ? (long)n : most;
}

static int64_t idle_s(const struct transfer *t)
{
	return (transfer_spec(t)->idle_ms + 999) / 1000;
}

static void set_limits(CURL *easy, const struct transfer *t)
{
	const struct action_transfer *a = transfer_spec(t);
	struct str url = transfer_is_download(t) ? a->from : a->to;

	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(
	    easy, CURLOPT_REDIR_PROTOCOLS_STR, str_starts(url, "https:") ? "https" : "http,https");
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
	curl_easy_setopt(easy, CURLOPT_MAXREDIRS, REDIRECTS_MAX);
	curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, at_most(a->connect_ms, INT32_MAX / 2));
	curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, at_most(idle_s(t), UINT16_MAX));
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
}

static void set_direction(CURL *easy, struct transfer *t)
{
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, t);
	if (transfer_is_download(t))
		return;
	curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)t->in_size);
	curl_easy_setopt(easy, CURLOPT_READFUNCTION, on_read);
	curl_easy_setopt(easy, CURLOPT_READDATA, t);
	curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, on_seek);
	curl_easy_setopt(easy, CURLOPT_SEEKDATA, t);
}

int http_begin(void *multi, struct transfer *t)
{
	const struct action_transfer *a = transfer_spec(t);
	CURL *easy = curl_easy_init();

	t->easy = easy;
	if (!multi || !easy) {
		snprintf(t->why, sizeof t->why, "libcurl could not be set up");
		return ERR_INTERNAL;
	}
	curl_easy_setopt(easy, CURLOPT_URL, transfer_is_download(t) ? a->from.p : a->to.p);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "reeve/" REEVE_VERSION);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, t->error);
	curl_easy_setopt(easy, CURLOPT_PRIVATE, t);
	set_limits(easy, t);
	set_direction(easy, t);
	curl_multi_add_handle(multi, easy);
	return 0;
}

void http_end(void *multi, struct transfer *t)
{
	if (!t->easy)
		return;
	curl_multi_remove_handle(multi, t->easy);
	curl_easy_cleanup(t->easy);
	t->easy = NULL;
}

/* The commonest failures in plain words; of the others what libcurl says. */
static void explain(struct transfer *t, int code, long status)
{
	const char *words = t->error[0] ? t->error : curl_easy_strerror((CURLcode)code);

	if (t->why[0])
		return; /* our own side failed, and has said why */
	if (code == CURLE_HTTP_RETURNED_ERROR || code == CURLE_OK)
		snprintf(t->why, sizeof t->why, "the server answered %ld", status);
	else if (code == CURLE_UNSUPPORTED_PROTOCOL)
		snprintf(t->why, sizeof t->why, "the server redirects to where this may not go");
	else if (code == CURLE_OPERATION_TIMEDOUT && strstr(words, "too slow"))
		snprintf(t->why, sizeof t->why, "nothing moved for %llds", (long long)idle_s(t));
	else
		snprintf(t->why, sizeof t->why, "%s", words);
}

int http_result(struct transfer *t, int code)
{
	long status = 0;

	curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	if (code == CURLE_OK && status >= 200 && status < 300)
		return transfer_is_download(t) ? 0 : transfer_check(t);
	explain(t, code, status);
	return ERR_IO;
}
