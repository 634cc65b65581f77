/* SPDX-License-Identifier: Apache-2.0 */
/* Where a deploy is, for people. */
#include "service/deploy/deploy.h"

static void say_state(const struct deploy *d, const struct deploy_pass *p, struct buf *out)
{
	long long target = (long long)d->target, failed = (long long)d->failed;

	switch (d->state) {
	case DEPLOY_STEADY:
		buf_printf(out, "all %u instances are to be of revision %lld", p->wanted, target);
		break;
	case DEPLOY_CANARY:
	case DEPLOY_WAITING:
		buf_printf(out, "%u of %u canaries are healthy on revision %lld", p->n_healthy,
		    p->goal, target);
		break;
	case DEPLOY_ROLLING:
		buf_printf(out, "%u of %u instances are healthy on revision %lld", p->n_healthy,
		    p->wanted, target);
		break;
	case DEPLOY_ROLLING_BACK:
		buf_printf(out, "going back: %u of %u instances are healthy on revision %lld",
		    p->n_healthy, p->wanted, target);
		break;
	case DEPLOY_STALLED:
		buf_printf(out, "stalled: %u of %u instances are healthy on revision %lld",
		    p->n_healthy, p->wanted, target);
		break;
	case N_DEPLOY_STATES: break;
	}
	if (failed && failed != target)
		buf_printf(out, "; revision %lld was not healthy in time", failed);
}

static void say_index(const struct deploy_pass *p, struct buf *out, const char *before,
    const char *after, const char *without)
{
	if (p->waits_index == NO_INDEX)
		buf_add_cstr(out, without);
	else
		buf_printf(out, "%s%u%s", before, p->waits_index, after);
}

void deploy_words(const struct deploy *d, const struct deploy_pass *p, struct buf *out)
{
	say_state(d, p, out);
	switch (p->waits) {
	case DEPLOY_WAITS_NOTHING:
	case N_DEPLOY_WAITS: break;
	case DEPLOY_WAITS_HEALTHY:
		say_index(p, out, "; waits until index ", " is ready for long enough", "");
		break;
	case DEPLOY_WAITS_OVER:
		say_index(p, out, "; waits until index ", ", of an older revision, has stopped",
		    "; waits until what was told to stop has stopped");
		break;
	case DEPLOY_WAITS_READY:
		buf_add_cstr(out, "; waits until enough are ready to stop one more");
		break;
	case DEPLOY_WAITS_PROMOTE:
		buf_add_cstr(out, "; waits until it is promoted or rolled back");
		break;
	case DEPLOY_WAITS_DECISION:
		say_index(p, out, "; index ",
		    " was not healthy in time; deploy, promote or roll back",
		    "; deploy, promote or roll back");
		break;
	}
}
