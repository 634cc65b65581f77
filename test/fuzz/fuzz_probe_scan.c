/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arbitrary bytes as the header of an HTTP reply. Whatever the pieces in which they come: the
 * verdict never changes once it is there, and it is the same as for the whole.
 */
#include "base/mem.h"
#include "worker/checks/probe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str all = {(const char *)data, size < PROBE_HEADER_MAX ? size : PROBE_HEADER_MAX};
	int whole_status = -1, whole, step = all.n > 512 ? (int)all.n / 64 : 1;
	const char *why = NULL;

	whole = probe_scan(all, &whole_status, &why);
	MUST(whole >= 0 || (why && *why));
	MUST(whole != 1 || (whole_status >= 0 && whole_status <= 999));
	for (size_t n = 0; n <= all.n; n += (size_t)step) {
		int status = -1, r = probe_scan((struct str){all.p, n}, &status, &why);

		MUST(r == 0 || (r == whole && status == whole_status));
		if (r != 0)
			break;
	}
	return 0;
}
