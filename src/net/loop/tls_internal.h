/* SPDX-License-Identifier: Apache-2.0 */
/* TLS sessions, for this folder's own connections. */
#ifndef NET_TLS_INTERNAL_H
#define NET_TLS_INTERNAL_H

#include <openssl/ssl.h>

#include "net/loop/tls.h"

/* One connection's session; clients verify that the certificate is for `host`. */
SSL *tls_session(struct tls *t, const char *host);
/* What OpenSSL last complained about, in words; clears its queue. */
void tls_error_text(unsigned long e, char *ret_text, size_t size);

#endif
