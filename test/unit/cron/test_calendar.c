/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"
int main(void)
{
	return 0;
}
