/* SPDX-License-Identifier: Apache-2.0 */
/* A request as net/http has it becomes one of the interface, whose answer goes back the same way.
 */
#ifndef SERVER_HTTP_DOOR_H
#define SERVER_HTTP_DOOR_H

#include "api/frame/api.h"
#include "net/http/http.h"

extern const struct api_io http_door_io;

void http_door_request(struct http_request *r, struct api *api);

#endif
