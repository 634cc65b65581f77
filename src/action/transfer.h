/* SPDX-License-Identifier: Apache-2.0 */
/* One transfer, between transfers.c (whose turn it is), transfer.c (files) and http.c (libcurl). */
#ifndef ACTION_TRANSFER_H
#define ACTION_TRANSFER_H

#include "action/digest.h"
#include "action/sink.h"
#include "action/tree.h"

#define TRANSFER_WHY_MAX 512

struct transfer {
	struct transfer *next;
	struct node *node;
	bool active;
	bool is_http;
	int in_fd; /* the file that is read; -1: it comes by HTTP */
	int64_t in_size;
	struct sink sink; /* the file that is written; closed: it goes out by HTTP */
	struct digest digest;
	int64_t n_bytes;
	bool checked; /* the digest is spent */
	void *easy;   /* libcurl's */
	char error[256];
	char why[TRANSFER_WHY_MAX]; /* what failed, when that was not libcurl */
};

bool transfer_is_download(const struct transfer *t);
const struct action_transfer *transfer_spec(const struct transfer *t);
/* Opens what is local. 0, or ERR_IO with `why`. */
int transfer_open(struct transfer *t);
/* Some bytes of it have come: counted, summed, written. */
int transfer_take(struct transfer *t, const void *p, size_t n);
/* Copies a piece from file to file. 1: there is more, 0: all of it is there, ERR_IO: `why`. */
int transfer_copy(struct transfer *t);
/* All of it has passed: has it the checksum that was asked for? ERR_IO with `why`. */
int transfer_check(struct transfer *t);
/* All of it is there: is it what was wanted? Then it gets its name. */
int transfer_commit(struct transfer *t);
void transfer_release(struct transfer *t);

/* "12 bytes", "1.5 MiB" */
const char *size_text(int64_t bytes, char out[32]);
/* The path in file:///a%20b; ERR_INVALID when there is none. */
int file_url_path(const char *url, char *out, size_t size);

/* libcurl: begins; ERR_INTERNAL with `why` when it cannot even do that. */
int http_begin(void *multi, struct transfer *t);
void http_end(void *multi, struct transfer *t);
/* What its result means: 0, or ERR_IO with `why`. */
int http_result(struct transfer *t, int curl_code);

#endif
