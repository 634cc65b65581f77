/* SPDX-License-Identifier: Apache-2.0 */
/* Writes without end, into both streams, NULs and no newline among it; and is deaf. */
#include "zoo.h"

#define ENOUGH (4 << 20) /* for one that ends */

int main(int argc, char **argv)
{
	static char piece[8192];
	time_t limit = time(NULL) + 300;

	zoo_deaf();
	for (size_t i = 0; i < sizeof piece; i++)
		piece[i] = (char)i;
	zoo_ready(argv);
	for (long done = 0; time(NULL) < limit; done += sizeof piece) {
		if (zoo_ends(argv) && done >= ENOUGH)
			return 0;
		if (write(done / (long)sizeof piece % 8 ? 1 : 2, piece, sizeof piece) < 0)
			zoo_sleep_ms(1);
	}
	return 99;
}
