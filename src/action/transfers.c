/* SPDX-License-Identifier: Apache-2.0 */
#include "action/transfers.h"

#include <curl/curl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "action/transfer.h"
#include "base/mem.h"

void transfers_init(struct transfers *x, struct tree *t)
{
	*x = (struct transfers){.tree = t};
	x->last = &x->first;
}

static void drop(struct transfers *x, struct transfer *t)
{
	struct transfer **at = &x->first;

	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	if (!*at)
		x->last = at;
	x->n_active -= t->active;
	x->n_waiting -= !t->active;
	x->n_local -= t->active && !t->is_http;
	http_end(x->multi, t);
	transfer_release(t);
	t->node->hand = NULL;
	free(t);
}

void transfers_release(struct transfers *x)
{
	while (x->first)
		drop(x, x->first);
	if (x->multi) {
		curl_multi_cleanup(x->multi);
		curl_global_cleanup();
	}
	x->multi = NULL;
}

void transfers_start(struct transfers *x, struct node *leaf)
{
	struct transfer *t = xcalloc(1, sizeof *t);

	t->node = leaf;
	t->in_fd = -1;
	t->sink = SINK_CLOSED;
	*x->last = t;
	x->last = &t->next;
	x->n_waiting++;
	leaf->hand = t;
}

void transfers_end(struct transfers *x, struct node *leaf)
{
	if (!leaf->hand)
		return;
	drop(x, leaf->hand);
	tree_leaf_over(x->tree, leaf, (struct outcome){OUTCOME_CANCELLED, 1, "Cancelled", NULL});
}

/* "Downloading NAME...": only where the action has a name for it. */
static void say(struct transfers *x, const struct transfer *t, bool is_done)
{
	struct str name = transfer_spec(t)->artifact;
	const char *what = transfer_is_download(t) ? "Download" : "Upload";
	char text[256], size[32];

	if (!name.n)
		return;
	if (is_done)
		snprintf(
		    text, sizeof text, "%sed %s (%s)", what, name.p, size_text(t->n_bytes, size));
	else
		snprintf(text, sizeof text, "%sing %s...", what, name.p);
	x->tree->hands.say(x->tree->hands.arg, t->node, false, text);
}

static void over(struct transfers *x, struct transfer *t, int result)
{
	const struct action_transfer *a = transfer_spec(t);
	struct outcome o = {OUTCOME_FAILED, 1, NULL};
	struct node *node = t->node;
	char text[TRANSFER_WHY_MAX + 256];

	if (result == 0)
		result = transfer_commit(t);
	if (result == 0) {
		say(x, t, true);
		o.kind = OUTCOME_GOOD;
	}
	snprintf(text, sizeof text, "%sing%s%s failed: %s",
	    transfer_is_download(t) ? "Download" : "Upload", a->artifact.n ? " " : "",
	    a->artifact.n ? a->artifact.p : "", t->why);
	o.text = text;
	drop(x, t);
	tree_leaf_over(x->tree, node, o);
}

static void *multi_of(struct transfers *x)
{
	if (!x->multi && curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
		x->multi = curl_multi_init();
	return x->multi;
}

static void activate(struct transfers *x, struct transfer *t)
{
	int r;

	say(x, t, false);
	r = transfer_open(t);
	if (r == 0 && t->is_http)
		r = http_begin(multi_of(x), t);
	t->active = true;
	x->n_active++;
	x->n_waiting--;
	x->n_local += !t->is_http;
	if (r < 0)
		over(x, t, r);
}

static void fill_up(struct transfers *x)
{
	struct transfer *next;

	for (struct transfer *t = x->first; t && x->n_active < TRANSFERS_AT_ONCE; t = next) {
		next = t->next;
		if (!t->active)
			activate(x, t);
	}
}

static void step_http(struct transfers *x)
{
	struct transfer *t;
	int running, left;
	CURLMsg *m;

	if (!x->multi)
		return;
	curl_multi_perform(x->multi, &running);
	while ((m = curl_multi_info_read(x->multi, &left))) {
		int code = (int)m->data.result;

		if (m->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &t);
		over(x, t, http_result(t, code));
	}
}

static void step_local(struct transfers *x)
{
	struct transfer *next;

	for (struct transfer *t = x->first; t && x->n_local > 0; t = next) {
		int r = 1;

		next = t->next;
		if (t->active && !t->is_http)
			r = transfer_copy(t);
		if (r <= 0)
			over(x, t, r);
	}
}

void transfers_step(struct transfers *x)
{
	fill_up(x);
	step_http(x);
	step_local(x);
	fill_up(x);
}

void transfers_wait(struct transfers *x, int fd, int64_t timeout_ms)
{
	struct curl_waitfd extra = {.fd = fd, .events = CURL_WAIT_POLLIN};
	struct pollfd one = {.fd = fd, .events = POLLIN};
	int ms;

	if (x->n_local > 0 || (x->n_waiting > 0 && x->n_active < TRANSFERS_AT_ONCE))
		timeout_ms = 0;
	ms = timeout_ms < 0 || timeout_ms > INT32_MAX ? INT32_MAX : (int)timeout_ms;
	if (x->multi)
		curl_multi_poll(x->multi, &extra, 1, ms, NULL);
	else
		poll(&one, 1, ms);
}
