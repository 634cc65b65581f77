/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates made for one test run. */
#ifndef TEST_NET_CERTS_H
#define TEST_NET_CERTS_H

struct certs {
	char dir[64];
	char ca[96], server_cert[96], server_key[96], client_cert[96], client_key[96];
	char other_ca[96]; /* which signed nothing of the above */
};

void certs_init(struct certs *c);
void certs_release(struct certs *c);

#endif
