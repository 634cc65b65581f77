/* SPDX-License-Identifier: Apache-2.0 */
/* TLS 1.2+ contexts for both ends. OpenSSL is known only to this folder. */
#ifndef NET_TLS_H
#define NET_TLS_H

#include "base/err.h"

struct tls;

struct tls_files {
	const char *cert; /* PEM chain; required for servers, optional for clients */
	const char *key;
	const char *ca; /* servers: demand client certificates signed by it; clients: trust only it
	                   (NULL: the system's trust store) */
};

struct tls *tls_server(const struct tls_files *f, struct problem *ret_problem);
struct tls *tls_client(const struct tls_files *f, struct problem *ret_problem);
/* Re-reads the files (SIGHUP); on failure the old certificates stay in use. */
int tls_reload(struct tls *t, struct problem *ret_problem);
void tls_free(struct tls *t);

#endif
