/* SPDX-License-Identifier: Apache-2.0 */
/* The frame codec: four bytes of length, big endian, then the payload. */
#include "net/link/frame.h"

enum frame_status frame_next(
    struct str *rest, size_t max, struct str *ret_payload, size_t *ret_need)
{
	const unsigned char *h = (const unsigned char *)rest->p;
	size_t n;

	if (rest->n < FRAME_HEAD) {
		*ret_need = FRAME_HEAD;
		return FRAME_MORE;
	}
	n = (size_t)h[0] << 24 | (size_t)h[1] << 16 | (size_t)h[2] << 8 | h[3];
	if (n > max) {
		*ret_need = n;
		return FRAME_TOO_LARGE;
	}
	if (rest->n - FRAME_HEAD < n) {
		*ret_need = FRAME_HEAD + n;
		return FRAME_MORE;
	}
	*ret_payload = (struct str){rest->p + FRAME_HEAD, n};
	rest->p += FRAME_HEAD + n;
	rest->n -= FRAME_HEAD + n;
	return FRAME_OK;
}

void frame_head(uint32_t payload_size, unsigned char ret_head[FRAME_HEAD])
{
	ret_head[0] = (unsigned char)(payload_size >> 24);
	ret_head[1] = (unsigned char)(payload_size >> 16);
	ret_head[2] = (unsigned char)(payload_size >> 8);
	ret_head[3] = (unsigned char)payload_size;
}
