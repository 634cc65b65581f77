/* SPDX-License-Identifier: Apache-2.0 */
/* Joins the REST interface to HTTP on one side and to the engine on the other. */
#ifndef SERVER_HTTP_API_H
#define SERVER_HTTP_API_H

#include "api/frame/api.h"
#include "net/http/http.h"
#include "server/engine/engine.h"
#include "server/engine/readers.h"

struct http_api;

struct http_api *http_api_new(struct loop *l, struct engine *e, struct readers *r,
    const struct http_options *http, const struct api_options *o);
struct http_server *http_api_server(struct http_api *h);
struct api *http_api_api(struct http_api *h);
void http_api_free(struct http_api *h);

#endif
