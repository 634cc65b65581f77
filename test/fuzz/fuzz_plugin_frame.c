/* SPDX-License-Identifier: Apache-2.0 */
/* Arbitrary bytes as what a persistent plugin writes, and as a task's body. */
#include "base/mem.h"
#include "model/limits.h"
#include "worker/jobs/body.h"
#include "worker/plugins/frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_frame(struct str payload)
{
	struct plugin_frame f;
	const char *why = NULL;

	if (frame_parse(payload, &f, &why) < 0) {
		MUST(why && *why);
		return;
	}
	MUST(f.kind != FRAME_REPLY || (f.status > 0 && f.status <= PLUGIN_STATUS_MAX));
	MUST(f.kind != FRAME_HELLO ||
	     (f.concurrency > 0 && f.concurrency <= PLUGIN_CONCURRENCY_MAX));
	MUST(f.kind == FRAME_HELLO || f.id.p);
	frame_release(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str all = {(const char *)data, size}, payload, params;
	const char *why = NULL;
	size_t at = 0;

	while (frame_take(all, &at, &payload, &why) > 0) {
		MUST(at <= size && payload.n > 0);
		check_frame(payload);
	}
	check_frame(all);
	params = json_member(all, "params");
	MUST(!params.p || (params.p >= all.p && params.p + params.n <= all.p + all.n));
	return 0;
}
