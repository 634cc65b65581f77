/* SPDX-License-Identifier: Apache-2.0 */
/* Reads problem+json; a body that is something else (a proxy's page) still gives a clear line. */
#include "cli/reach/problem.h"

#include <jansson.h>
#include <string.h>

#include "base/mem.h"
#include "cli/frame/cli.h"

static int code_of_status(int status)
{
	switch (status) {
	case 401: return ERR_UNAUTHORIZED;
	case 403: return ERR_DENIED;
	case 404: return ERR_NOT_FOUND;
	case 405: return ERR_METHOD;
	case 408: return ERR_TIMEOUT;
	case 409: return ERR_CONFLICT;
	case 412: return ERR_PRECONDITION;
	case 413: return ERR_TOO_LARGE;
	case 415: return ERR_MEDIA;
	case 422: return ERR_REUSED_KEY;
	case 502:
	case 504: return ERR_UNREACHABLE;
	case 503: return ERR_BUSY;
	default: return status < 500 ? ERR_INVALID : ERR_INTERNAL;
	}
}

static int code_of(const char *type, int status)
{
	static const char prefix[] = "urn:reeve:error:";

	if (type && !strncmp(type, prefix, sizeof prefix - 1))
		return err_from_name(type + sizeof prefix - 1);
	return code_of_status(status);
}

int problem_from_reply(int status, struct str body, struct problem *ret_problem)
{
	AUTO(json_drop) json_t *j = json_loadb(body.p ? body.p : "", body.n, 0, NULL);
	const char *type = json_string_value(json_object_get(j, "type"));
	const char *title = json_string_value(json_object_get(j, "title"));
	const char *detail = json_string_value(json_object_get(j, "detail"));
	const char *hint = json_string_value(json_object_get(j, "hint"));
	const char *field = json_string_value(json_object_get(j, "field"));
	int code = code_of(type, status);

	if (!detail && !title)
		problem_set(
		    ret_problem, code, "the server answered %d: %s", status, err_title(code));
	else if (detail && field && strpbrk(field, ".["))
		problem_set(ret_problem, code, "%s: %s", field, detail);
	else
		problem_set(ret_problem, code, "%s", detail ? detail : title);
	/* The server speaks of headers there; a person has options. */
	if (code == ERR_UNAUTHORIZED)
		problem_hint(ret_problem, "give it with --token-file FILE, REEVE_TOKEN or, in the "
		                          "configuration, cli.token_file");
	else if (hint)
		problem_hint(ret_problem, "%s", hint);
	if (field)
		problem_field(ret_problem, field);
	return code;
}
