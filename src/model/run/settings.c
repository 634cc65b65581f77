/* SPDX-License-Identifier: Apache-2.0 */
#include "model/run/settings.h"

const char *const kill_method_names[N_KILL_METHODS] = {"term_wait_kill", "term", "kill"};
const char *const kill_to_names[N_KILL_TOS] = {"cgroup", "group", "child"};
const char *const death_signal_names[N_DEATH_SIGNALS] = {"kill", "term", "none"};
const char *const limit_policy_names[N_LIMIT_POLICIES] = {"refuse", "warn"};
const char *const output_policy_names[N_OUTPUT_POLICIES] = {"slow", "drop"};

#define LOOK_EVERY(ms)                                                              \
	{                                                                           \
		.start_interval_ms = 2000, .interval_ms = (ms), .timeout_ms = 1000, \
		.start_timeout_ms = 60000, .healthy_after = 1, .unhealthy_after = 1 \
	}

void run_settings_default(struct run_settings *r)
{
	*r = (struct run_settings){
	    .nice = NICE_UNSET,
	    .umask = UMASK_UNSET,
	    .limits = {.open_files = -1,
	        .file_size = -1,
	        .core_size = -1,
	        .stack_size = -1,
	        .cpu_seconds = -1},
	    .kill = {.wait_ms = -1},
	    .check = LOOK_EVERY(30000),
	    .checks = {LOOK_EVERY(30000), LOOK_EVERY(30000), LOOK_EVERY(5000)},
	    .spool = -1,
	};
}

struct run_checks run_checks_of(const struct run_settings *s)
{
	struct run_checks c = s->checks;

	if (c.startup.kind == CHECK_NONE)
		c.startup = s->check;
	if (c.liveness.kind == CHECK_NONE)
		c.liveness = s->check;
	return c;
}
