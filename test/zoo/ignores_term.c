/* SPDX-License-Identifier: Apache-2.0 */
/* Asks nicely to be ignored: only KILL ends it. */
#include "zoo.h"

int main(int argc, char **argv)
{
	zoo_deaf();
	return zoo_live(argv);
}
