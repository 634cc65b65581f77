/* SPDX-License-Identifier: Apache-2.0 */
/* Arbitrary bytes as a worker's frame. What is accepted must survive being written and read again.
 */
#include <string.h>

#include "base/mem.h"
#include "wire/link.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = {0};
	struct buf b = {0};
	struct problem p = {0};
	struct link_to_server m, again;

	if (link_decode_to_server((struct str){(const char *)data, size}, &a, &m, &p) == 0) {
		link_encode_to_server(&m, &a, &b);
		MUST(link_decode_to_server(buf_str(&b), &a, &again, &p) == 0);
		MUST(again.n_ended == m.n_ended && again.n_output == m.n_output);
		MUST(again.n_started == m.n_started && !again.hello == !m.hello);
		for (size_t i = 0; i < m.n_ended; i++)
			MUST(str_eq(m.ended[i].reason, again.ended[i].reason));
	} else {
		MUST(p.code == ERR_PROTOCOL && p.what[0]);
	}
	buf_release(&b);
	arena_release(&a);
	return 0;
}
