/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of requests: the first byte says to what and in which form, the rest is the body. */
#include <stddef.h>
#include <stdint.h>

#include "api_host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
	enum api_method method;
	const char *path;
	const char *type;
} forms[] = {
    {API_POST, "/v1/tasks", "application/json"},
    {API_POST, "/v1/tasks", "application/x-ndjson"},
    {API_POST, "/v1/queues", NULL},
    {API_PATCH, "/v1/queues/default", NULL},
    {API_POST, "/v1/queues/default/pause", NULL},
    {API_POST, "/v1/tasks/actions/cancel", NULL},
    {API_PATCH, "/v1/tasks/000000000000000000000007", NULL},
    {API_POST, "/v1/tasks/000000000000000000000007/retry", "application/json; charset=utf-8"},
};
#define N_FORMS (sizeof forms / sizeof forms[0])

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct api_request r = {0};

	if (size == 0)
		return 0;
	r.method = forms[data[0] % N_FORMS].method;
	r.path = str_of(forms[data[0] % N_FORMS].path);
	r.content_type = str_of(forms[data[0] % N_FORMS].type);
	host.code = data[0] / N_FORMS % 4 == 3 ? ERR_CONFLICT : 0;
	if (data[0] & 0x80)
		r.idempotency_key = STR("key");
	r.body = (struct str){(const char *)data + 1, size - 1};
	host_ask(&r);
	return 0;
}
