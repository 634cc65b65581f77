/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin of mode "once" in C: one process per task. The task's JSON is on stdin, and its most
 * useful parts are in the environment. The exit code is the status: 0 succeeded, else failed;
 * {"status": N, "reason": "…"} on descriptor 3 says more.
 *
 * This one prints which task it is and how many bytes its JSON has.
 */
#include <stdio.h>
#include <stdlib.h>

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "?";
}

int main(void)
{
	size_t bytes = 0;

	while (getchar() != EOF)
		bytes++;
	if (bytes == 0) {
		dprintf(3, "{\"status\": 2, \"reason\": \"no task on stdin\"}");
		return 1;
	}
	printf("task %s, attempt %s, queue %s: %zu bytes\n", variable("REEVE_TASK_ID"),
	    variable("REEVE_ATTEMPT"), variable("REEVE_TASK_QUEUE"), bytes);
	return 0;
}
