/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths, queries and headers: "PATH?k=v&k=v" and then, a line each, headers in a fixed order. The
 * first byte is the method.
 */
#include <stddef.h>
#include <stdint.h>

#include "api_host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PARAMS_MAX 32

static size_t split(struct str query, struct api_param *params)
{
	struct str part;
	size_t n = 0;

	while (n < PARAMS_MAX && str_next(&query, '&', &part)) {
		str_next(&part, '=', &params[n].key);
		params[n++].value = part;
	}
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest, line;
	struct api_param params[PARAMS_MAX];
	struct api_request r = {.params = params};
	struct str *headers[] = {&r.accept, &r.if_match, &r.if_none_match, &r.last_event_id,
	    &r.origin, &r.host, &r.authorization, &r.idempotency_key, &r.content_type, &r.body};

	if (size == 0)
		return 0;
	r.method = data[0] % N_API_METHODS;
	rest = (struct str){(const char *)data + 1, size - 1};
	str_next(&rest, '\n', &line);
	str_next(&line, '?', &r.path);
	r.n_params = split(line, params);
	for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
		if (str_next(&rest, '\n', &line) && line.n)
			*headers[i] = line;
	host_ask(&r);
	return 0;
}
