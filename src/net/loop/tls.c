/* SPDX-License-Identifier: Apache-2.0 */
/* TLS contexts: made from files, replaced as a whole on reload, shared by sessions. */
#include "net/loop/tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/loop/tls_internal.h"

struct tls {
	SSL_CTX *ctx;
	bool server;
	char *cert, *key, *ca;
};

void tls_error_text(unsigned long e, char *ret_text, size_t size)
{
	const char *reason = e ? ERR_reason_error_string(e) : NULL;

	if (!reason && ERR_SYSTEM_ERROR(e))
		reason = strerror(ERR_GET_REASON(e));
	snprintf(ret_text, size, "%s", reason ? reason : "unknown TLS error");
	ERR_clear_error();
}

static int file_problem(struct problem *p, const char *what, const char *file)
{
	char text[160];

	tls_error_text(ERR_peek_error(), text, sizeof text);
	problem_set(p, ERR_IO, "Cannot use the TLS %s \"%s\": %s", what, file, text);
	problem_hint(p, "It must be a readable PEM file.");
	return ERR_IO;
}

static int load_identity(SSL_CTX *ctx, const struct tls *t, struct problem *p)
{
	if (!t->cert)
		return 0;
	if (!t->key)
		return problem_set(p, ERR_INVALID, "A TLS certificate needs its key as well");
	if (SSL_CTX_use_certificate_chain_file(ctx, t->cert) != 1)
		return file_problem(p, "certificate", t->cert);
	if (SSL_CTX_use_PrivateKey_file(ctx, t->key, SSL_FILETYPE_PEM) != 1)
		return file_problem(p, "key", t->key);
	if (SSL_CTX_check_private_key(ctx) != 1)
		return problem_set(p, ERR_INVALID,
		    "The TLS key \"%s\" does not belong to the certificate \"%s\"", t->key,
		    t->cert);
	return 0;
}

static int load_trust(SSL_CTX *ctx, const struct tls *t, struct problem *p)
{
	STACK_OF(X509_NAME) * names;

	if (t->ca && SSL_CTX_load_verify_file(ctx, t->ca) != 1)
		return file_problem(p, "CA", t->ca);
	if (!t->server) {
		if (!t->ca)
			SSL_CTX_set_default_verify_paths(ctx);
		SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
		return 0;
	}
	if (!t->ca)
		return 0;
	names = SSL_load_client_CA_file(t->ca);
	if (!names)
		return file_problem(p, "CA", t->ca);
	SSL_CTX_set_client_CA_list(ctx, names);
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	return 0;
}

static int ctx_new(const struct tls *t, SSL_CTX **ret_ctx, struct problem *p)
{
	static const unsigned char session_context[] = "reeve";
	SSL_CTX *ctx = SSL_CTX_new(t->server ? TLS_server_method() : TLS_client_method());
	int e;

	MUST(ctx);
	ERR_clear_error();
	SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
	SSL_CTX_set_session_id_context(ctx, session_context, sizeof session_context - 1);
	e = load_identity(ctx, t, p);
	if (e == 0)
		e = load_trust(ctx, t, p);
	if (e != 0) {
		SSL_CTX_free(ctx);
		return e;
	}
	*ret_ctx = ctx;
	return 0;
}

static struct tls *tls_new(const struct tls_files *f, bool server, struct problem *p)
{
	struct tls *t = xcalloc(1, sizeof *t);

	t->server = server;
	t->cert = f->cert ? xstrdup(f->cert) : NULL;
	t->key = f->key ? xstrdup(f->key) : NULL;
	t->ca = f->ca ? xstrdup(f->ca) : NULL;
	if (tls_reload(t, p) == 0)
		return t;
	tls_free(t);
	return NULL;
}

struct tls *tls_server(const struct tls_files *f, struct problem *ret_problem)
{
	if (!f->cert) {
		problem_set(ret_problem, ERR_INVALID, "A TLS server needs a certificate and a key");
		return NULL;
	}
	return tls_new(f, true, ret_problem);
}

struct tls *tls_client(const struct tls_files *f, struct problem *ret_problem)
{
	return tls_new(f, false, ret_problem);
}

int tls_reload(struct tls *t, struct problem *ret_problem)
{
	SSL_CTX *fresh;
	int e = ctx_new(t, &fresh, ret_problem);

	if (e != 0)
		return e;
	SSL_CTX_free(t->ctx);
	t->ctx = fresh;
	return 0;
}

void tls_free(struct tls *t)
{
	if (!t)
		return;
	SSL_CTX_free(t->ctx);
	free(t->cert);
	free(t->key);
	free(t->ca);
	free(t);
}

static bool is_ip(const char *host)
{
	unsigned char bytes[16];

	return inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1;
}

SSL *tls_session(struct tls *t, const char *host)
{
	SSL *s = SSL_new(t->ctx);

	MUST(s);
	if (t->server || !host)
		return s;
	if (is_ip(host)) {
		X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(s), host);
	} else {
		SSL_set_tlsext_host_name(s, host);
		SSL_set1_host(s, host);
	}
	return s;
}
