/* SPDX-License-Identifier: Apache-2.0 */
/* What two ends that do not understand each other did wrong, as far as one of them can see. */
#include <event2/bufferevent_ssl.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>

#include "net/link/link_internal.h"
#include "net/loop/tls_internal.h"

#define TLS_HANDSHAKE                                                               \
	0x16 /* the first bytes of a client that speaks TLS: this, then the version \
	      */
#define TLS_MAJOR 0x03

static enum link_fault fault_of_alert(const SSL *ssl, int alert)
{
	if (alert == SSL_AD_CERTIFICATE_REQUIRED)
		return LINK_FAULT_WANTS_CERT;
	if (alert == SSL_AD_HANDSHAKE_FAILURE && !SSL_is_server(ssl))
		return SSL_get_certificate(ssl) ? LINK_FAULT_DISTRUSTED : LINK_FAULT_WANTS_CERT;
	if (alert == SSL_AD_BAD_CERTIFICATE || alert == SSL_AD_CERTIFICATE_UNKNOWN ||
	    alert == SSL_AD_CERTIFICATE_EXPIRED || alert == SSL_AD_UNKNOWN_CA ||
	    alert == SSL_AD_UNSUPPORTED_CERTIFICATE)
		return LINK_FAULT_DISTRUSTED;
	return LINK_FAULT_NONE;
}

static bool is_other_name(const SSL *ssl)
{
	long result = SSL_get_verify_result(ssl);

	return result == X509_V_ERR_HOSTNAME_MISMATCH || result == X509_V_ERR_IP_ADDRESS_MISMATCH;
}

enum link_fault fault_of_tls(const struct link *l, unsigned long e)
{
	const SSL *ssl = bufferevent_openssl_get_ssl(l->bev);
	int reason = ERR_GET_REASON(e);

	if (ERR_GET_LIB(e) != ERR_LIB_SSL)
		return LINK_FAULT_NONE;
	if (reason > SSL_AD_REASON_OFFSET)
		return fault_of_alert(ssl, reason - SSL_AD_REASON_OFFSET);
	switch (reason) {
	case SSL_R_CERTIFICATE_VERIFY_FAILED:
		return is_other_name(ssl) ? LINK_FAULT_NAME : LINK_FAULT_UNTRUSTED;
	case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE: return LINK_FAULT_NO_CERT;
	case SSL_R_WRONG_VERSION_NUMBER:
	case SSL_R_PACKET_LENGTH_TOO_LONG:
	case SSL_R_HTTP_REQUEST: return LINK_FAULT_IS_PLAIN;
	default: return LINK_FAULT_NONE;
	}
}

/* Why a certificate was not believed; NULL: that was not it. */
const char *fault_in_certificate(const struct link *l)
{
	const SSL *ssl = bufferevent_openssl_get_ssl(l->bev);

	if (l->fault != LINK_FAULT_UNTRUSTED && l->fault != LINK_FAULT_NAME)
		return NULL;
	return X509_verify_cert_error_string(SSL_get_verify_result(ssl));
}

/* A peer that awaits our first word says nothing to one that awaits a handshake. */
enum link_fault fault_of_silence(const struct link *l)
{
	SSL *ssl = l->tls && l->bev ? bufferevent_openssl_get_ssl(l->bev) : NULL;

	if (l->accepted)
		return ssl && !l->open && BIO_number_read(SSL_get_rbio(ssl)) == 0
		           ? LINK_FAULT_IS_PLAIN
		           : LINK_FAULT_NONE;
	if (!l->open || l->got_frame)
		return LINK_FAULT_NONE;
	if (!ssl)
		return LINK_FAULT_IS_TLS;
	return l->lost && !SSL_get_certificate(ssl) ? LINK_FAULT_WANTS_CERT : LINK_FAULT_NONE;
}

bool fault_looks_like_tls(struct str first)
{
	return first.n >= 2 && first.p[0] == TLS_HANDSHAKE && first.p[1] == TLS_MAJOR;
}

/* Closed with something unread, a socket is reset, and the alert that says why may be lost. */
void fault_let_alert_out(const struct link *l)
{
	int fd = bufferevent_getfd(l->bev);
	char unread[4096];

	if (!l->accepted || !l->tls || l->open)
		return;
	shutdown(fd, SHUT_WR);
	for (int i = 0; i < 16 && recv(fd, unread, sizeof unread, MSG_DONTWAIT) > 0; i++)
		;
}
