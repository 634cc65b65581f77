/* SPDX-License-Identifier: Apache-2.0 */
/* A throw-away CA, a server certificate for localhost and 127.0.0.1, a client certificate. */
#include "certs.h"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

static void write_key(const char *path, EVP_PKEY *key)
{
	FILE *f = fopen(path, "w");

	MUST(f && PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL) == 1);
	fclose(f);
}

static void write_cert(const char *path, X509 *cert)
{
	FILE *f = fopen(path, "w");

	MUST(f && PEM_write_X509(f, cert) == 1);
	fclose(f);
}

static void add_extension(X509 *cert, int nid, const char *value)
{
	X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, NULL, nid, value);

	MUST(e && X509_add_ext(cert, e, -1) == 1);
	X509_EXTENSION_free(e);
}

static X509 *make_cert(const char *name, EVP_PKEY *key, X509 *issuer, EVP_PKEY *issuer_key)
{
	static long serial = 1;
	X509 *x = X509_new();
	X509_NAME *n = X509_get_subject_name(x);

	X509_set_version(x, 2);
	ASN1_INTEGER_set(X509_get_serialNumber(x), serial++);
	X509_gmtime_adj(X509_getm_notBefore(x), -3600);
	X509_gmtime_adj(X509_getm_notAfter(x), 86400);
	X509_set_pubkey(x, key);
	X509_NAME_add_entry_by_txt(n, "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0);
	X509_set_issuer_name(x, issuer ? X509_get_subject_name(issuer) : n);
	if (issuer)
		add_extension(x, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
	else
		add_extension(x, NID_basic_constraints, "critical,CA:TRUE");
	MUST(X509_sign(x, issuer_key, EVP_sha256()) > 0);
	return x;
}

static void make_pair(
    const char *name, X509 *ca, EVP_PKEY *ca_key, const char *cert_path, const char *key_path)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *cert = make_cert(name, key, ca, ca_key);

	write_cert(cert_path, cert);
	write_key(key_path, key);
	X509_free(cert);
	EVP_PKEY_free(key);
}

#define PATH(field, file) snprintf(c->field, sizeof c->field, "%s/" file, c->dir)

void certs_init(struct certs *c)
{
	EVP_PKEY *key = EVP_EC_gen("P-256"), *other_key = EVP_EC_gen("P-256");
	X509 *ca = make_cert("test CA", key, NULL, key);
	X509 *other = make_cert("other CA", other_key, NULL, other_key);

	snprintf(c->dir, sizeof c->dir, "/tmp/reeve-certs-XXXXXX");
	MUST(mkdtemp(c->dir));
	PATH(ca, "ca.pem");
	PATH(other_ca, "other.pem");
	PATH(server_cert, "server.pem");
	PATH(server_key, "server.key");
	PATH(client_cert, "client.pem");
	PATH(client_key, "client.key");
	write_cert(c->ca, ca);
	write_cert(c->other_ca, other);
	make_pair("server", ca, key, c->server_cert, c->server_key);
	make_pair("client", ca, key, c->client_cert, c->client_key);
	X509_free(ca);
	X509_free(other);
	EVP_PKEY_free(key);
	EVP_PKEY_free(other_key);
}

void certs_release(struct certs *c)
{
	unlink(c->ca);
	unlink(c->other_ca);
	unlink(c->server_cert);
	unlink(c->server_key);
	unlink(c->client_cert);
	unlink(c->client_key);
	rmdir(c->dir);
}
