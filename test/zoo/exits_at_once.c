/* SPDX-License-Identifier: Apache-2.0 */
/* Is over before anybody could look at it. */
#include "zoo.h"

int main(int argc, char **argv)
{
	zoo_ready(argv);
	_exit(7);
}
