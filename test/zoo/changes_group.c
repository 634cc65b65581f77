/* SPDX-License-Identifier: Apache-2.0 */
/* Moves between process groups, and leaves a deaf process in each of ten of them. */
#include "zoo.h"

#define GROUPS 10

int main(int argc, char **argv)
{
	pid_t last = 0;

	for (int i = 0; i < GROUPS; i++) {
		pid_t child = fork();

		if (child == 0) {
			zoo_deaf();
			setpgid(0, 0);
			zoo_stay();
		}
		if (child < 0)
			return 1;
		setpgid(child, child);
		last = child;
	}
	setpgid(
	    0, last); /* refused for a session's leader; else signals to our own group miss us */
	return zoo_live(argv);
}
