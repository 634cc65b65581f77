/* SPDX-License-Identifier: Apache-2.0 */
/* Files of deploys out of arbitrary bytes: what is read can be played. */
#include "base/mem.h"
#include "service/file/rollout_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rollout_file f = {0};
	struct problem p = {0};
	struct buf json = {0};
	int rc = rollout_file_read((struct str){(const char *)data, size}, &f, &p);

	if (rc < 0) {
		MUST(rc == p.code && p.what[0]);
		return 0;
	}
	rollout_file_play(&f, &json);
	MUST(json.n > 20);
	buf_release(&json);
	rollout_file_release(&f);
	return 0;
}
