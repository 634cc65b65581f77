/* SPDX-License-Identifier: Apache-2.0 */
/* Files to converge out of arbitrary bytes: a second pass does nothing. */
#include "base/mem.h"
#include "service/file/converge_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct converge_file f = {0};
	struct converge_report r;
	struct problem p = {0};
	struct buf json = {0};
	int rc = converge_file_read((struct str){(const char *)data, size}, &f, &p);

	if (rc < 0) {
		MUST(rc == p.code && p.what[0]);
		return 0;
	}
	converge_file_run(&f, &r);
	MUST(converge_report_again(&r) == 0);
	converge_report_json(&r, &json);
	converge_report_release(&r);
	MUST(json.n > 20);
	buf_release(&json);
	converge_file_release(&f);
	return 0;
}
