/* SPDX-License-Identifier: Apache-2.0 */
/* GET /v1/audit/verify: is the audit trail as it was written? In steps, so that others read, too.
 */
#include "api/frame/call.h"

static void show_end(struct buf *b, const char *key, const struct chain_end *end)
{
	char text[CHAIN_END_TEXT];

	jw_mstr_null(b, key, end->seq ? str_of(chain_end_format(end, text)) : STR_NULL);
}

void api_audit(struct buf *b, const struct audit_check *k)
{
	jw_open(b, '{');
	jw_mbool(b, "fits", k->fault == AUDIT_FITS);
	jw_mi64(b, "checked", k->n);
	jw_mi64_null(b, "first", (int64_t)k->first, k->first != 0);
	jw_mi64(b, "unchained", k->n_before);
	show_end(b, "head", &k->head);
	show_end(b, "expired", &k->anchor);
	jw_key(b, "fault");
	if (k->fault == AUDIT_FITS) {
		jw_null(b);
	} else {
		jw_open(b, '{');
		jw_mcstr(b, "kind", audit_fault_name(k->fault));
		jw_mi64(b, "event", (int64_t)k->fault_seq);
		jw_mcstr(b, "detail", k->what);
		jw_close(b, '}');
	}
	jw_close(b, '}');
}

static void step(struct store_reader *r, void *arg)
{
	struct call *c = arg;

	c->code = store_audit_step(r, c->state);
}

static void stepped(struct call *c)
{
	const struct audit_check *k = c->state;

	if (call_read_failed(c))
		return;
	if (!k->done) {
		call_read_long(c, step, stepped);
		return;
	}
	api_audit(&c->out, k);
	call_json(c, 200);
}

void audit_verify(struct call *c)
{
	struct audit_check *k = call_state(c, sizeof *k);

	if (c->query[Q_EXPECT].p && !chain_end_parse(c->query[Q_EXPECT], &k->expect)) {
		problem_set(&c->problem, ERR_INVALID, "what is expected is not an event's hash");
		problem_hint(&c->problem,
		    "give the head as it was printed: its number, a colon, 64 hex digits");
		problem_field(&c->problem, "expect");
		call_problem(c);
		return;
	}
	call_read_long(c, step, stepped);
}
