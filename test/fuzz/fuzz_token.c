/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Authorization headers out of arbitrary bytes: what is taken for a token lies inside the header,
 * has the one shape that there is, and is the same text again when it is put together.
 */
#include <string.h>

#include "base/mem.h"
#include "base/secret.h"
#include "model/objects/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str header = {(const char *)data, size}, token = bearer_of(header), id, secret;
	struct buf again = {0};

	MUST(token.n <= header.n && (!token.p || token.p + token.n == header.p + header.n));
	MUST(secret_equal(token, token) == (token.n > 0));
	if (token_split(token, &id, &secret)) {
		buf_printf(&again, TOKEN_PREFIX STR_FMT "_" STR_FMT, STR_ARG(id), STR_ARG(secret));
		MUST(str_eq(buf_str(&again), token));
		MUST(id.n == 24 && secret.n == 2 * TOKEN_SECRET_BYTES);
		for (size_t i = 0; i < secret.n; i++)
			MUST(strchr("0123456789abcdef", secret.p[i]) && secret.p[i]);
	}
	role_parse(header);
	buf_release(&again);
	return 0;
}
