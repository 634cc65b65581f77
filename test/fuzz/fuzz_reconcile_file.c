/* SPDX-License-Identifier: Apache-2.0 */
/* Files to reconcile out of arbitrary bytes: every case has its row. */
#include "base/mem.h"
#include "service/file/reconcile_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reconcile_file f = {0};
	struct problem p = {0};
	struct buf json = {0};
	int rc = reconcile_file_read((struct str){(const char *)data, size}, &f, &p);

	if (rc < 0) {
		MUST(rc == p.code && p.what[0]);
		return 0;
	}
	reconcile_file_json(&f, &json);
	MUST(json.n > 20);
	buf_release(&json);
	reconcile_file_release(&f);
	return 0;
}
