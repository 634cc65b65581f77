/* SPDX-License-Identifier: Apache-2.0 */
/* Templates out of arbitrary bytes, over texts that would like to be more than a word. */
#include <string.h>

#include "base/mem.h"
#include "cli/routes/template.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DATA                                                                                 \
	"{\"s\": {\"name\": \"web\", \"odd\": \"a b;\\\"{'$x\\\\\", \"line\": \"\\u0001\","  \
	" \"n\": 7, \"none\": null}, \"list\": [1, \"\\u0001\", [2], {\"k\": \"\\u0001\"}]," \
	" \"map\": {\"k\": \"v\", \"k2\": [\"::1\"]}}"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static json_t *j;
	struct template t;
	struct problem p = {0};
	struct buf out = {0};

	if (!j)
		MUST(j = json_loads(DATA, 0, NULL));
	if (template_parse((struct str){(const char *)data, size}, &t, &p) < 0) {
		MUST(p.what[0]);
		return 0;
	}
	if (template_run(&t, j, &out, &p) < 0)
		MUST(p.what[0] && out.n == 0);
	else if (!size || !memchr(data, 1, size)) /* a control character comes from nowhere */
		MUST(!out.n || !memchr(out.p, 1, out.n));
	buf_release(&out);
	template_release(&t);
	return 0;
}
