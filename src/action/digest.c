/* SPDX-License-Identifier: Apache-2.0 */
#include "action/digest.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "wire/json/action.h"

int digest_init(struct digest *d, enum action_digest kind)
{
	const EVP_MD *md;

	*d = (struct digest){.kind = kind};
	if (kind == DIGEST_NONE)
		return 0;
	md = EVP_get_digestbyname(action_digest_names[kind]);
	d->ctx = EVP_MD_CTX_new();
	if (md && d->ctx && EVP_DigestInit_ex(d->ctx, md, NULL) == 1)
		return 0;
	digest_release(d);
	return ERR_INTERNAL;
}

void digest_add(struct digest *d, const void *p, size_t n)
{
	if (d->ctx)
		MUST(EVP_DigestUpdate(d->ctx, p, n) == 1);
}

static const char *hex(const unsigned char *p, size_t n, char *out)
{
	for (size_t i = 0; i < n; i++)
		snprintf(out + 2 * i, 3, "%02x", p[i]);
	return out;
}

bool digest_is(struct digest *d, const unsigned char *wanted, char *why, size_t size)
{
	char is[2 * EVP_MAX_MD_SIZE + 1], should[2 * EVP_MAX_MD_SIZE + 1];
	unsigned char sum[EVP_MAX_MD_SIZE];
	unsigned n = 0;

	if (!d->ctx)
		return true;
	MUST(EVP_DigestFinal_ex(d->ctx, sum, &n) == 1 && n == action_digest_size(d->kind));
	if (memcmp(sum, wanted, n) == 0)
		return true;
	snprintf(why, size, "the %s checksum is %s, not %s", action_digest_names[d->kind],
	    hex(sum, n, is), hex(wanted, n, should));
	return false;
}

void digest_release(struct digest *d)
{
	EVP_MD_CTX_free(d->ctx);
	d->ctx = NULL;
}
