/* SPDX-License-Identifier: Apache-2.0 */
/* What this process itself has used: for the cases that are the brain alone. */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "bench/internal.h"

/* The kernel keeps the highest that memory has been; it forgets that when it is told to. */
void peak_forget(void)
{
	FILE *f = fopen("/proc/self/clear_refs", "we");

	if (!f)
		return;
	fputs("5", f);
	fclose(f);
}

double peak_mb(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[128];
	long kb = -1;

	while (f && kb < 0 && fgets(line, sizeof line, f))
		if (sscanf(line, "VmHWM: %ld", &kb) != 1)
			kb = -1;
	if (f)
		fclose(f);
	return kb < 0 ? NAN : (double)kb / 1024;
}

/* One thread that waits for nothing: its processor time is what it takes on an idle machine. */
double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
