/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames out of arbitrary bytes: every payload lies inside the input, progress is made, what is
 * left is explained, and encoding the payloads again gives the bytes that were used.
 */
#include <string.h>

#include "base/mem.h"
#include "net/link/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t max = size ? (size_t)data[0] * 16 : 0, need = 0;
	struct str rest = {(const char *)data, size}, payload;
	enum frame_status status;

	for (;;) {
		struct str before = rest;
		unsigned char head[FRAME_HEAD];

		status = frame_next(&rest, max, &payload, &need);
		if (status != FRAME_OK)
			break;
		MUST(payload.n <= max && payload.p == before.p + FRAME_HEAD);
		MUST(before.n - rest.n == payload.n + FRAME_HEAD);
		frame_head((uint32_t)payload.n, head);
		MUST(memcmp(head, before.p, FRAME_HEAD) == 0);
	}
	if (status == FRAME_MORE)
		MUST(need > rest.n && need <= max + FRAME_HEAD);
	else
		MUST(need > max);
	return 0;
}
