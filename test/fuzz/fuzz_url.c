/* SPDX-License-Identifier: Apache-2.0 */
/* Request targets out of arbitrary bytes: parts lie inside the target, decoding only shrinks. */
#include "base/mem.h"
#include "net/http/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void inside(struct str part, struct str whole)
{
	MUST(part.n == 0 || (part.p >= whole.p && part.p + part.n <= whole.p + whole.n) ||
	     str_is(part, "/"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str target = {(const char *)data, size}, path, query, key, value;
	struct buf b = {0};

	url_split(target, &path, &query);
	inside(path, target);
	inside(query, target);
	url_decode(&b, path, false);
	MUST(b.n <= path.n);
	while (url_query_next(&query, &key, &value)) {
		inside(key, target);
		inside(value, target);
		buf_reset(&b);
		url_decode(&b, value, true);
		MUST(b.n <= value.n);
	}
	buf_release(&b);
	return 0;
}
