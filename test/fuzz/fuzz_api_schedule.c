/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies about schedules: the first byte says to what, the rest is the body. */
#include <stddef.h>
#include <stdint.h>

#include "api_host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
	enum api_method method;
	const char *path;
} forms[] = {
    {API_POST, "/v1/schedules"},
    {API_POST, "/v1/schedules/preview"},
    {API_PATCH, "/v1/schedules/ten"},
    {API_PATCH, "/v1/schedules/wall"},
    {API_POST, "/v1/schedules/ten/pause"},
    {API_POST, "/v1/schedules/ten/backfill"},
};
#define N_FORMS (sizeof forms / sizeof forms[0])

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct api_request r = {.content_type = STR("application/json")};

	if (size == 0)
		return 0;
	r.method = forms[data[0] % N_FORMS].method;
	r.path = str_of(forms[data[0] % N_FORMS].path);
	host.code = data[0] / N_FORMS % 4 == 3 ? ERR_CONFLICT : 0;
	r.body = (struct str){(const char *)data + 1, size - 1};
	host_ask(&r);
	return 0;
}
