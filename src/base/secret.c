/* SPDX-License-Identifier: Apache-2.0 */
#include "base/secret.h"

bool secret_equal(struct str given, struct str wanted)
{
	volatile unsigned char diff = given.n != wanted.n || wanted.n == 0;

	for (size_t i = 0; i < given.n; i++)
		diff |= (unsigned char)(given.p[i] ^ (wanted.n ? wanted.p[i % wanted.n] : 0));
	return !diff;
}
