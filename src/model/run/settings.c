/* SPDX-License-Identifier: Apache-2.0 */
#include "model/run/settings.h"

const char *const kill_method_names[N_KILL_METHODS] = {"term_wait_kill", "term", "kill"};
const char *const kill_to_names[N_KILL_TOS] = {"cgroup", "group", "child"};
const char *const death_signal_names[N_DEATH_SIGNALS] = {"kill", "term", "none"};
const char *const limit_policy_names[N_LIMIT_POLICIES] = {"refuse", "warn"};
const char *const output_policy_names[N_OUTPUT_POLICIES] = {"slow", "drop"};
const char *const check_kind_names[N_CHECK_KINDS] = {"none", "command", "tcp", "http"};

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
	    .check = {.start_interval_ms = 2000,
	        .interval_ms = 30000,
	        .timeout_ms = 1000,
	        .start_timeout_ms = 60000,
	        .healthy_after = 1,
	        .unhealthy_after = 1},
	    .spool = -1,
	};
}
