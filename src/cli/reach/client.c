/* SPDX-License-Identifier: Apache-2.0 */
/* libcurl's multi interface behind a small one: calls that start, move on and finish. */
#include "cli/reach/client.h"

#include <curl/curl.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/frame/interrupt.h"
#include "cli/output/output.h"
#include "cli/reach/problem.h"

#define REPLY_MAX (512u << 20)
#define REQUEST_MS 120000L
#define CONNECT_MS 5000L
#define PATIENCE_FIRST_MS 300   /* nobody was ever there: do not make a person wait */
#define PATIENCE_AGAIN_MS 60000 /* a server that was there a moment ago restarts */

struct client {
	char *server, *base, *socket, *token, *ca_file, *cert_file, *key_file;
	CURLM *multi;
	int64_t patience_ms;
	bool is_tty, reached, said;
	int watched;  /* a descriptor, plus one; 0: none */
	int outlasts; /* interrupts, in each request */
};

struct call {
	struct client *client;
	CURL *easy;
	struct curl_slist *headers;
	client_data_fn *on_data;
	void *arg;
	struct reply reply;
	char error[CURL_ERROR_SIZE];
	CURLcode code;
	int64_t offset; /* where its bytes begin, when the server says so */
	bool done, too_large;
};

struct client *client_new(const struct client_options *o, struct problem *ret_problem)
{
	struct client *c;

	curl_global_init(CURL_GLOBAL_DEFAULT);
	c = xcalloc(1, sizeof *c);
	c->server = xstrdup(o->server);
	if (!strncmp(o->server, "unix:", 5)) {
		c->socket = xstrdup(o->server + 5);
		c->base = xstrdup("http://localhost");
	} else {
		c->base = xstrdup(o->server);
	}
	c->token = o->token && *o->token ? xasprintf("Authorization: Bearer %s", o->token) : NULL;
	c->ca_file = o->ca_file ? xstrdup(o->ca_file) : NULL;
	c->cert_file = o->cert_file ? xstrdup(o->cert_file) : NULL;
	c->key_file = o->key_file ? xstrdup(o->key_file) : NULL;
	c->patience_ms = o->patience_ms;
	c->is_tty = o->is_tty;
	c->multi = curl_multi_init();
	if (!c->multi) {
		problem_set(ret_problem, ERR_INTERNAL, "libcurl could not be set up");
		client_free(c);
		return NULL;
	}
	return c;
}

void client_free(struct client *c)
{
	if (!c)
		return;
	curl_multi_cleanup(c->multi);
	free(c->server);
	free(c->base);
	free(c->socket);
	free(c->token);
	free(c->ca_file);
	free(c->cert_file);
	free(c->key_file);
	free(c);
}

const char *client_server(const struct client *c)
{
	return c->server;
}

void reply_release(struct reply *r)
{
	buf_release(&r->body);
	*r = (struct reply){0};
}

static size_t on_body(char *bytes, size_t one, size_t n, void *arg)
{
	struct call *call = arg;
	long status = 0;

	curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
	if (call->on_data && status < 400) {
		call->on_data((struct str){bytes, n}, call->arg);
		return n;
	}
	if (call->reply.body.n + n > REPLY_MAX) {
		call->too_large = true;
		return 0;
	}
	buf_add(&call->reply.body, bytes, n);
	return n;
}

static bool header_is(struct str line, const char *name, struct str *ret_value)
{
	size_t n = strlen(name);

	if (line.n <= n || strncasecmp(line.p, name, n))
		return false;
	line = (struct str){line.p + n, line.n - n};
	while (line.n > 0 && line.p[0] == ' ')
		line.p++, line.n--;
	while (line.n > 0 && (unsigned char)line.p[line.n - 1] <= ' ')
		line.n--;
	*ret_value = line;
	return true;
}

static size_t on_header(char *bytes, size_t one, size_t n, void *arg)
{
	struct call *call = arg;
	struct str line = {bytes, n}, value;

	if (header_is(line, "ETag:", &value))
		snprintf(call->reply.etag, sizeof call->reply.etag, STR_FMT, STR_ARG(value));
	else if (header_is(line, "Reeve-Offset:", &value))
		str_to_i64(value, 0, INT64_MAX, &call->offset);
	return n;
}

static void add_header(struct call *call, const char *name, const char *value)
{
	AUTO(free_cstr) char *line = NULL;
	struct curl_slist *longer;

	if (!value)
		return;
	line = *name ? xasprintf("%s: %s", name, value) : xstrdup(value);
	longer = curl_slist_append(call->headers, line);
	MUST(longer != NULL);
	call->headers = longer;
}

static void set_headers(struct call *call, const struct request *q)
{
	char key[33];

	idempotency_key(key);
	add_header(call, "", call->client->token);
	add_header(call, "", "Expect:"); /* no round trip before large bodies */
	add_header(call, "Accept", q->accept);
	if (q->body.p)
		add_header(
		    call, "Content-Type", q->content_type ? q->content_type : "application/json");
	if (!strcmp(q->method, "POST"))
		add_header(call, "Idempotency-Key", q->key ? q->key : key);
	add_header(call, "Last-Event-ID", q->last_event_id);
	add_header(call, "If-Match", q->if_match);
	add_header(call, "If-None-Match", q->if_none_match);
	curl_easy_setopt(call->easy, CURLOPT_HTTPHEADER, call->headers);
}

static void set_transport(struct call *call)
{
	struct client *c = call->client;

	if (c->socket) {
		curl_easy_setopt(call->easy, CURLOPT_UNIX_SOCKET_PATH, c->socket);
		curl_easy_setopt(call->easy, CURLOPT_PROXY, "");
	}
	if (c->ca_file)
		curl_easy_setopt(call->easy, CURLOPT_CAINFO, c->ca_file);
	if (c->cert_file) {
		curl_easy_setopt(call->easy, CURLOPT_SSLCERT, c->cert_file);
		curl_easy_setopt(call->easy, CURLOPT_SSLKEY, c->key_file);
	}
	curl_easy_setopt(call->easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(call->easy, CURLOPT_PATH_AS_IS, 1L); /* a queue may be called ".." */
	curl_easy_setopt(call->easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(call->easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	if (!call->on_data)
		curl_easy_setopt(call->easy, CURLOPT_TIMEOUT_MS, REQUEST_MS);
	curl_easy_setopt(call->easy, CURLOPT_USERAGENT, "reeve/" REEVE_VERSION);
	curl_easy_setopt(call->easy, CURLOPT_ERRORBUFFER, call->error);
}

struct call *client_start(struct client *c, const struct request *q)
{
	struct call *call = xcalloc(1, sizeof *call);
	AUTO(free_cstr) char *url = xasprintf("%s%s", c->base, q->path);

	call->client = c;
	call->on_data = q->on_data;
	call->arg = q->arg;
	call->easy = curl_easy_init();
	MUST(call->easy != NULL);
	curl_easy_setopt(call->easy, CURLOPT_URL, url);
	curl_easy_setopt(call->easy, CURLOPT_CUSTOMREQUEST, q->method);
	if (q->body.p || !strcmp(q->method, "POST")) {
		curl_easy_setopt(call->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->body.n);
		curl_easy_setopt(call->easy, CURLOPT_POSTFIELDS, q->body.p ? q->body.p : "");
	}
	set_headers(call, q);
	set_transport(call);
	curl_easy_setopt(call->easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(call->easy, CURLOPT_WRITEDATA, call);
	curl_easy_setopt(call->easy, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(call->easy, CURLOPT_HEADERDATA, call);
	curl_easy_setopt(call->easy, CURLOPT_PRIVATE, call);
	curl_multi_add_handle(c->multi, call->easy);
	return call;
}

static bool collect(struct client *c)
{
	CURLMsg *m;
	bool any = false;
	int left;

	while ((m = curl_multi_info_read(c->multi, &left))) {
		char *call = NULL;

		if (m->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &call);
		((struct call *)call)->done = true;
		((struct call *)call)->code = m->data.result;
		any = true;
	}
	return any;
}

void client_pump(struct client *c, int64_t wait_ms)
{
	struct curl_waitfd fds[2];
	unsigned n = 0;
	int running = 0;

	curl_multi_perform(c->multi, &running);
	if (collect(c) || wait_ms <= 0)
		return;
	if (interrupt_fd() >= 0)
		fds[n++] = (struct curl_waitfd){.fd = interrupt_fd(), .events = CURL_WAIT_POLLIN};
	if (c->watched)
		fds[n++] = (struct curl_waitfd){.fd = c->watched - 1, .events = CURL_WAIT_POLLIN};
	curl_multi_poll(c->multi, fds, n, (int)(wait_ms > 60000 ? 60000 : wait_ms), NULL);
	interrupt_drain();
	curl_multi_perform(c->multi, &running);
	collect(c);
}

int64_t call_offset(const struct call *call)
{
	return call->offset;
}

void client_outlast(struct client *c, int interrupts)
{
	c->outlasts = interrupts;
}

void client_watch(struct client *c, int fd)
{
	c->watched = fd + 1;
}

bool call_is_done(const struct call *call)
{
	return call->done;
}

void call_abort(struct call *call)
{
	if (!call)
		return;
	curl_multi_remove_handle(call->client->multi, call->easy);
	curl_easy_cleanup(call->easy);
	curl_slist_free_all(call->headers);
	reply_release(&call->reply);
	free(call);
}

/* What to do about it. The words are OpenSSL's and curl's; where they change, the hint is general.
 */
static const char *transport_hint(const struct call *call, const char *why)
{
	const struct client *c = call->client;
	bool https = !strncmp(c->base, "https:", 6);

	if (call->code == CURLE_PEER_FAILED_VERIFICATION && strstr(why, "subject name"))
		return "its certificate is for another name: use that one in the URL";
	if (call->code == CURLE_PEER_FAILED_VERIFICATION)
		return "--ca-file FILE names the certificate authority to trust";
	if (call->code == CURLE_SSL_CACERT_BADFILE)
		return "--ca-file wants certificates in PEM form";
	if (https && strstr(why, "wrong version number"))
		return "it does not speak TLS: write http:// if you trust the way to it";
	if (https && !c->cert_file && call->code != CURLE_COULDNT_CONNECT &&
	    call->code != CURLE_COULDNT_RESOLVE_HOST)
		return "if it demands a certificate of yours, give it with --cert-file and "
		       "--key-file";
	if (!https && !c->socket && call->code == CURLE_GOT_NOTHING)
		return "if it speaks TLS there, write https://";
	return "is it running? `reeve dev` starts one, `reeve doctor` looks closer";
}

static int transport_problem(const struct call *call, struct problem *p)
{
	const struct client *c = call->client;
	const char *why = call->error[0] ? call->error : curl_easy_strerror(call->code);
	int code;

	if (call->too_large)
		return problem_set(p, ERR_TOO_LARGE, "the server's reply is larger than 512 MiB");
	if (c->socket && access(c->socket, R_OK | W_OK) != 0 && errno == EACCES) {
		problem_set(
		    p, ERR_UNREACHABLE, "you may not use the server's socket %s", c->socket);
		return problem_hint(
		    p, "only its owner and root may; try sudo, or a URL and a token");
	}
	/* curl speaks of the URL's host, which means nothing for a socket. */
	if (c->socket && call->code == CURLE_COULDNT_CONNECT)
		why = access(c->socket, F_OK) == 0 ? "nobody listens there"
		                                   : "there is no such socket";
	/* Trust does not come by trying again. */
	code = call->code == CURLE_PEER_FAILED_VERIFICATION ||
	               call->code == CURLE_SSL_CACERT_BADFILE || call->code == CURLE_SSL_CERTPROBLEM
	           ? ERR_PROTOCOL
	           : ERR_UNREACHABLE;
	problem_set(p, code, "the server at %s cannot be reached: %s", c->server, why);
	return problem_hint(p, "%s", transport_hint(call, why));
}

int call_finish(struct call *call, struct reply *ret_reply, struct problem *ret_problem)
{
	long status = 0;
	int r = 0;

	curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
	call->reply.status = (int)status;
	if (call->code != CURLE_OK) {
		r = transport_problem(call, ret_problem);
	} else {
		call->client->reached = true;
		if (status >= 400)
			r = problem_from_reply(
			    (int)status, buf_str(&call->reply.body), ret_problem);
	}
	if (ret_reply) {
		*ret_reply = call->reply;
		call->reply = (struct reply){0};
	}
	call_abort(call);
	return r;
}

bool client_may_retry(int result, const struct reply *reply)
{
	if (result == ERR_UNREACHABLE)
		return true;
	return reply->status == 502 || reply->status == 503 || reply->status == 504;
}

void client_backoff(struct client *c, int attempt)
{
	int64_t ms = 50ll << (attempt > 5 ? 5 : attempt);
	int64_t until;

	if (ms > 2000)
		ms = 2000;
	until = clock_mono_ms() + ms / 2 + (int64_t)(clock_random() % (uint64_t)(ms / 2 + 1));
	while (clock_mono_ms() < until && interrupt_count() <= c->outlasts)
		client_pump(c, until - clock_mono_ms());
}

static int64_t patience(const struct client *c)
{
	if (c->patience_ms >= 0)
		return c->patience_ms;
	return c->reached ? PATIENCE_AGAIN_MS : PATIENCE_FIRST_MS;
}

static void say_retrying(struct client *c, const struct problem *p)
{
	if (c->said || !c->is_tty)
		return;
	c->said = true;
	say(stderr, "reeve: %s; trying again", p->what);
}

int client_do(
    struct client *c, const struct request *q, struct reply *ret_reply, struct problem *ret_problem)
{
	int64_t begin = clock_mono_ms();
	int interrupts = interrupt_count() + c->outlasts;
	struct request repeat = *q;
	char key[33];

	idempotency_key(key);
	if (!repeat.key)
		repeat.key = key;
	for (int attempt = 0;; attempt++) {
		struct call *call = client_start(c, &repeat);
		int r;

		while (!call_is_done(call) && interrupt_count() <= interrupts)
			client_pump(c, 1000);
		if (!call_is_done(call)) {
			call_abort(call);
			return problem_set(ret_problem, ERR_TIMEOUT, "interrupted");
		}
		r = call_finish(call, ret_reply, ret_problem);
		if (r >= 0 || !client_may_retry(r, ret_reply) ||
		    clock_mono_ms() - begin >= patience(c))
			return r;
		if (clock_mono_ms() - begin > 1000)
			say_retrying(c, ret_problem);
		reply_release(ret_reply);
		client_backoff(c, attempt);
		if (interrupt_count() > interrupts)
			return problem_set(ret_problem, ERR_TIMEOUT, "interrupted");
	}
}
