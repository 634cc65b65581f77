/* SPDX-License-Identifier: Apache-2.0 */
/* Links over TLS: round trip, certificates demanded, the wrong CA, reload, an abrupt end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "certs.h"
#include "client.h"
#include "net/link/link.h"

struct world {
	struct loop *loop;
	struct loop_timer *watchdog;
	struct link_listener *listener;
	struct tls *server_tls, *client_tls;
	struct link *server, *client;
	bool accepted, opened;
	size_t bytes;
	char server_why[200], client_why[200];
	enum link_fault server_fault, client_fault;
	int closes, stop_at_closes;
};

static struct certs certs;

static void on_open(struct link *l, void *arg)
{
	struct world *w = arg;

	w->opened = true;
}

static void on_frame(struct link *l, struct str payload, void *arg)
{
	struct world *w = arg;

	if (l == w->server) {
		link_send(l, payload);
		return;
	}
	w->bytes += payload.n;
	loop_stop(w->loop);
}

static void on_close(struct link *l, const char *why, void *arg)
{
	struct world *w = arg;
	bool is_client = l == w->client;

	*(is_client ? &w->client_fault : &w->server_fault) = link_fault(l);
	snprintf(is_client ? w->client_why : w->server_why, sizeof w->client_why, "%s", why);
	if (is_client)
		w->client = NULL;
	else
		w->server = NULL;
	if (++w->closes == w->stop_at_closes)
		loop_stop(w->loop);
}

static void on_stranger(struct link *l, const char *why, void *arg)
{
	struct world *w = arg;

	w->server_fault = link_fault(l);
	snprintf(w->server_why, sizeof w->server_why, "%s", why);
	if (++w->closes == w->stop_at_closes)
		loop_stop(w->loop);
}

static const struct link_events events = {on_open, on_frame, on_close, NULL, on_stranger};

static void *on_accept(struct link *l, const char *peer, void *arg)
{
	struct world *w = arg;

	w->accepted = true;
	w->server = l;
	return w;
}

static void *on_accept_and_speak(struct link *l, const char *peer, void *arg)
{
	link_send(l, STR("who is there?"));
	return on_accept(l, peer, arg);
}

static void on_watchdog(void *arg)
{
	fail_msg("nothing happened for a minute");
}

static void world_init(struct world *w, bool mutual, const char *client_ca, bool client_cert)
{
	struct tls_files s = {certs.server_cert, certs.server_key, mutual ? certs.ca : NULL};
	struct tls_files c = {client_cert ? certs.client_cert : NULL,
	    client_cert ? certs.client_key : NULL, client_ca};
	struct problem p = {0};

	memset(w, 0, sizeof *w);
	w->loop = loop_new();
	w->watchdog = loop_timer_new(w->loop, on_watchdog, NULL);
	loop_timer_set(w->watchdog, 60000);
	w->server_tls = tls_server(&s, &p);
	w->client_tls = tls_client(&c, &p);
	assert_non_null(w->server_tls);
	assert_non_null(w->client_tls);
	w->listener =
	    link_listen(w->loop, "127.0.0.1:0", w->server_tls, NULL, &events, on_accept, w, &p);
	assert_non_null(w->listener);
}

static void listen_again(struct world *w, const char *address, struct tls *tls,
    const struct link_options *o, link_accept_fn *accept_fn)
{
	struct problem p = {0};

	link_listener_free(w->listener);
	w->listener = link_listen(w->loop, address, tls, o, &events, accept_fn, w, &p);
	assert_non_null(w->listener);
}

static void dial(struct world *w, const char *host)
{
	char address[64];

	snprintf(address, sizeof address, "%s:%d", host, link_listener_port(w->listener));
	w->client = link_dial(w->loop, address, w->client_tls, NULL, &events, w);
}

static void world_release(struct world *w)
{
	w->closes = 0;
	w->stop_at_closes = !!w->server + !!w->client;
	if (w->server)
		link_close(w->server, "test over");
	if (w->client)
		link_close(w->client, "test over");
	if (w->stop_at_closes)
		loop_run(w->loop);
	link_listener_free(w->listener);
	loop_timer_free(w->watchdog);
	tls_free(w->server_tls);
	tls_free(w->client_tls);
	loop_free(w->loop);
}

static void round_trip(struct world *w, const char *host)
{
	static char block[200000];

	dial(w, host);
	link_send(w->client, (struct str){block, sizeof block});
	loop_run(w->loop);
	assert_true(w->opened);
	assert_true(w->accepted);
	assert_int_equal(w->bytes, sizeof block);
}

static void test_round_trip(void **state)
{
	struct world w;

	world_init(&w, false, certs.ca, false);
	round_trip(&w, "127.0.0.1");
	world_release(&w);
	world_init(&w, false, certs.ca, false);
	round_trip(&w, "localhost");
	world_release(&w);
}

static void test_mutual_round_trip_and_reload(void **state)
{
	struct world w;
	struct problem p = {0};
	char moved[128];

	world_init(&w, true, certs.ca, true);
	assert_int_equal(tls_reload(w.server_tls, &p), 0);
	snprintf(moved, sizeof moved, "%s.moved", certs.server_cert);
	assert_int_equal(rename(certs.server_cert, moved), 0);
	assert_true(tls_reload(w.server_tls, &p) < 0);
	assert_non_null(strstr(p.what, certs.server_cert));
	assert_int_equal(rename(moved, certs.server_cert), 0);
	round_trip(&w, "127.0.0.1"); /* the old certificate stays in use */
	world_release(&w);
}

static void test_client_without_certificate_is_refused(void **state)
{
	struct world w;

	world_init(&w, true, certs.ca, false);
	w.stop_at_closes = 2;
	dial(&w, "127.0.0.1");
	loop_run(w.loop);
	assert_false(w.accepted);
	assert_null(w.client);
	assert_non_null(strstr(w.client_why, "certificate"));
	world_release(&w);
}

static void test_server_of_another_ca_is_refused(void **state)
{
	struct world w;

	world_init(&w, false, certs.other_ca, false);
	w.stop_at_closes = 2;
	dial(&w, "127.0.0.1");
	loop_run(w.loop);
	assert_false(w.opened);
	assert_non_null(strstr(w.client_why, "verify failed"));
	world_release(&w);
}

/* Both ends hear of the end; what each of them sees of it. */
static void assert_faults(
    struct world *w, const char *host, enum link_fault client, enum link_fault server)
{
	w->stop_at_closes = 2;
	dial(w, host);
	loop_run(w->loop);
	assert_int_equal(w->client_fault, client);
	assert_int_equal(w->server_fault, server);
	world_release(w);
}

static void test_both_ends_see_what_is_wrong(void **state)
{
	struct world w;

	for (int i = 0; i < 10; i++) { /* the alert is not lost now and then */
		world_init(&w, true, certs.ca, false);
		w.stop_at_closes = 2;
		dial(&w, "127.0.0.1");
		loop_run(w.loop);
		assert_non_null(strstr(w.client_why, "certificate required"));
		assert_int_equal(w.client_fault, LINK_FAULT_WANTS_CERT);
		assert_int_equal(w.server_fault, LINK_FAULT_NO_CERT);
		world_release(&w);
	}
	world_init(&w, false, certs.other_ca, false);
	assert_faults(&w, "127.0.0.1", LINK_FAULT_UNTRUSTED, LINK_FAULT_DISTRUSTED);
	world_init(&w, false, certs.ca, false); /* the certificate is for 127.0.0.1 */
	listen_again(&w, "127.0.0.2:0", w.server_tls, NULL, on_accept);
	assert_faults(&w, "127.0.0.2", LINK_FAULT_NAME, LINK_FAULT_DISTRUSTED);
}

static void test_plain_and_tls_see_each_other(void **state)
{
	static const struct link_options hasty = {.open_ms = 200};
	struct world w;
	struct tls *tls;

	world_init(&w, false, certs.ca, false); /* the server speaks TLS, the client does not */
	listen_again(&w, "127.0.0.1:0", w.server_tls, &hasty, on_accept);
	tls = w.client_tls;
	w.client_tls = NULL;
	assert_faults(&w, "127.0.0.1", LINK_FAULT_IS_TLS, LINK_FAULT_IS_PLAIN);
	tls_free(tls);
	world_init(&w, false, certs.ca, false); /* and the other way */
	listen_again(&w, "127.0.0.1:0", NULL, NULL, on_accept_and_speak);
	assert_faults(&w, "127.0.0.1", LINK_FAULT_IS_PLAIN, LINK_FAULT_IS_TLS);
}

static void test_plain_bytes_do_not_become_a_link(void **state)
{
	struct world w;
	int fd;

	world_init(&w, false, certs.ca, false);
	fd = client_connect(link_listener_port(w.listener));
	client_send_text(fd, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
	round_trip(&w, "127.0.0.1"); /* beside it */
	assert_true(client_wait_closed(fd));
	close(fd);
	world_release(&w);
}

/* A peer that is killed: it shook hands, spoke, and is gone without close_notify. */
static void *killed_peer(void *arg)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	SSL *ssl = SSL_new(ctx);
	int fd = client_connect(*(int *)arg);

	SSL_set_fd(ssl, fd);
	if (SSL_connect(ssl) == 1)
		SSL_write(ssl, "\0\0\0\2hi", 6);
	close(fd);
	SSL_free(ssl);
	SSL_CTX_free(ctx);
	return NULL;
}

static void test_end_without_close_notify(void **state)
{
	struct world w;
	pthread_t thread;
	int port;

	world_init(&w, false, certs.ca, false);
	port = link_listener_port(w.listener);
	w.stop_at_closes = 1;
	assert_int_equal(pthread_create(&thread, NULL, killed_peer, &port), 0);
	loop_run(w.loop);
	pthread_join(thread, NULL);
	assert_true(w.accepted);
	assert_non_null(strstr(w.server_why, "link lost"));
	world_release(&w);
}

static void test_files_are_checked(void **state)
{
	struct problem p = {0};
	struct tls_files none = {0}, no_key = {.cert = certs.server_cert};
	struct tls_files wrong = {.cert = certs.server_cert, .key = certs.client_key};
	struct tls_files missing = {.cert = "/nonexistent.pem", .key = certs.client_key};

	assert_null(tls_server(&none, &p));
	assert_non_null(strstr(p.what, "needs a certificate"));
	assert_null(tls_server(&no_key, &p));
	assert_null(tls_server(&wrong, &p));
	assert_null(tls_server(&missing, &p));
	assert_non_null(strstr(p.what, "/nonexistent.pem"));
}

static int make_certs(void **state)
{
	certs_init(&certs);
	return 0;
}

static int remove_certs(void **state)
{
	certs_release(&certs);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_round_trip),
	    cmocka_unit_test(test_mutual_round_trip_and_reload),
	    cmocka_unit_test(test_client_without_certificate_is_refused),
	    cmocka_unit_test(test_server_of_another_ca_is_refused),
	    cmocka_unit_test(test_both_ends_see_what_is_wrong),
	    cmocka_unit_test(test_plain_and_tls_see_each_other),
	    cmocka_unit_test(test_plain_bytes_do_not_become_a_link),
	    cmocka_unit_test(test_end_without_close_notify),
	    cmocka_unit_test(test_files_are_checked),
	};

	return cmocka_run_group_tests(tests, make_certs, remove_certs);
}
