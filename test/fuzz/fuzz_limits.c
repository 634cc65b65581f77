/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of mountinfo and of a process's cgroups: parts lie inside the line, unescaping shrinks. */
#include "base/mem.h"
#include "exec/confine/limits_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void inside(struct str part, struct str whole)
{
	MUST(part.n == 0 || (part.p >= whole.p && part.p + part.n <= whole.p + whole.n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str line = {(const char *)data, size}, root, point, own;
	struct buf b = {0};

	if (limits_parse_mount(line, "cpu", &root, &point)) {
		inside(root, line);
		inside(point, line);
		MUST(point.n > 0);
		limits_unescape(&b, point);
		MUST(b.n <= point.n);
	}
	if (limits_parse_own(line, "cpu", &own)) {
		inside(own, line);
		MUST(own.n > 0);
	}
	buf_release(&b);
	return 0;
}
