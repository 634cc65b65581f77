/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the document for tools/check-openapi. */
#include <stdio.h>

#include "api/frame/api.h"

int main(void)
{
	struct buf b = {0};
	size_t n;

	api_openapi(&b);
	n = fwrite(b.p, 1, b.n, stdout);
	n -= b.n;
	buf_release(&b);
	return n != 0 || fflush(stdout) != 0;
}
