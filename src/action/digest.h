/* SPDX-License-Identifier: Apache-2.0 */
/* A checksum of what passes by, held against the one that was asked for. */
#ifndef ACTION_DIGEST_H
#define ACTION_DIGEST_H

#include "model/run/action.h"

struct digest {
	enum action_digest kind;
	struct evp_md_ctx_st *ctx;
};

/* ERR_INTERNAL when this host's OpenSSL does not offer it. */
int digest_init(struct digest *d, enum action_digest kind);
void digest_add(struct digest *d, const void *p, size_t n);
/* Right, or nothing was asked for. If not, *why has both, in words. */
bool digest_is(struct digest *d, const unsigned char *wanted, char *why, size_t size);
void digest_release(struct digest *d);

#endif
