/* SPDX-License-Identifier: Apache-2.0 */
/* What every beast needs. None lives longer than five minutes, whoever forgets about it. */
#ifndef ZOO_H
#define ZOO_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static inline void zoo_ready(char **argv)
{
	int fd = open(argv[1], O_CREAT | O_WRONLY, 0600);

	if (fd >= 0)
		close(fd);
}

static inline bool zoo_ends(char **argv)
{
	return argv[2] && strcmp(argv[2], "end") == 0;
}

static inline void zoo_deaf(void)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1};

	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
		signal(signals[i], SIG_IGN);
}

static inline void zoo_sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static inline void zoo_stay(void)
{
	for (int i = 0; i < 3000; i++)
		zoo_sleep_ms(100);
	_exit(99);
}

/* The end of a main(): stays, or leaves everything behind. */
static inline int zoo_live(char **argv)
{
	zoo_ready(argv);
	if (!zoo_ends(argv))
		zoo_stay();
	return 0;
}

#endif
