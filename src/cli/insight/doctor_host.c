/* SPDX-License-Identifier: Apache-2.0 */
/* doctor, of this host: by what tasks can be ended, limited and shut in. */
#include "cli/insight/doctor.h"
#include "exec/confine/limits.h"
#include "exec/sandbox/sandbox.h"

#define DELEGATE                                 \
	"Delegate=yes in the worker's unit, or " \
	"`systemd-run --user --scope -p Delegate=yes reeve dev`"

static void check_kill(struct doctor *d, const struct limits_host *h)
{
	if (h->tree_kill)
		doctor_found(d, "cgroup", "ok", NULL,
		    "cgroup.kill works: whatever a task leaves behind is ended with it");
	else
		doctor_found(d, "cgroup", "warn", DELEGATE,
		    "a worker started from here cannot make cgroups of version 2, and ends tasks "
		    "by other means: %s",
		    h->kill_why);
}

static void check_limit(struct doctor *d, const struct limits_host *h, enum limit_on on)
{
	char text[512];
	bool well = h->by[on] == BY_V1 || h->by[on] == BY_V2;

	limits_describe(h, on, text, sizeof text);
	doctor_found(d, "limits", well ? "ok" : "warn", well ? NULL : DELEGATE, "%s", text);
}

static void check_sandbox(struct doctor *d)
{
	char why[300];

	if (sandbox_available(why, sizeof why))
		doctor_found(d, "sandbox", "ok", NULL, "tasks can be shut in, by bubblewrap");
	else
		doctor_found(d, "sandbox", "warn", "only tasks that ask for a sandbox need it",
		    "no sandbox can be made: %s", why);
}

void doctor_host(struct doctor *d)
{
	struct limits_host h;

	limits_look(&h);
	check_kill(d, &h);
	for (int on = 0; on < N_LIMITS; on++)
		check_limit(d, &h, (enum limit_on)on);
	limits_release(&h);
	check_sandbox(d);
}
