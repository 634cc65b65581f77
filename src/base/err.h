/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One error shape for the whole tree: a negative `enum err`, and where a person will read it,
 * a `struct problem` that says what was wrong and what to do about it.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

/* code, stable name (API `type`), HTTP status, CLI exit code, title */
#define ERR_TABLE(X)                                                                             \
	X(ERR_INVALID, -1, "invalid", 400, 2, "The request is not valid")                        \
	X(ERR_NOT_FOUND, -2, "not-found", 404, 1, "There is no such thing")                      \
	X(ERR_CONFLICT, -3, "conflict", 409, 1, "The request conflicts with the present state")  \
	X(ERR_TOO_LARGE, -4, "too-large", 413, 2, "The request is too large")                    \
	X(ERR_DENIED, -5, "denied", 403, 1, "This is not permitted")                             \
	X(ERR_UNAUTHORIZED, -6, "unauthorized", 401, 1, "A token is needed")                     \
	X(ERR_METHOD, -7, "method-not-allowed", 405, 2, "The method does not apply here")        \
	X(ERR_MEDIA, -8, "unsupported-media-type", 415, 2, "The content type is not understood") \
	X(ERR_PRECONDITION, -9, "precondition-failed", 412, 1, "It was changed in the meantime") \
	X(ERR_REUSED_KEY, -10, "idempotency-key-reused", 422, 1,                                 \
	    "The idempotency key was used for a different request")                              \
	X(ERR_BUSY, -11, "busy", 503, 1, "The server cannot take this now")                      \
	X(ERR_STORE, -12, "store", 500, 1, "The store failed")                                   \
	X(ERR_SCHEMA, -13, "schema", 500, 1, "The store's schema does not fit this version")     \
	X(ERR_IO, -14, "io", 500, 1, "Input or output failed")                                   \
	X(ERR_PROTOCOL, -15, "protocol", 400, 1, "The peer broke the protocol")                  \
	X(ERR_TIMEOUT, -16, "timeout", 408, 1, "It took too long")                               \
	X(ERR_UNREACHABLE, -17, "unreachable", 502, 1, "The server cannot be reached")           \
	X(ERR_INTERNAL, -18, "internal", 500, 1, "Something went wrong inside Reeve")

enum err {
	ERR_OK = 0,
#define X(code, n, name, http, exit, title) code = n,
	ERR_TABLE(X)
#undef X
};

struct problem {
	int code;       /* enum err; 0 while there is none */
	char what[320]; /* what happened, one sentence */
	char hint[320]; /* what to do next; may be empty */
	char field[64]; /* the offending field or place, if there is one */
};

const char *err_name(int code);
const char *err_title(int code);
int err_http_status(int code);
int err_exit_code(int code);
/* the code whose stable name this is; ERR_INTERNAL when unknown */
int err_from_name(const char *name);

/* Fills *p (which may be NULL) and returns code, so that callers can `return problem_set(…)`. */
int problem_set(struct problem *p, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
int problem_hint(struct problem *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int problem_field(struct problem *p, const char *field);

#endif
