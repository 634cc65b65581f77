/* SPDX-License-Identifier: Apache-2.0 */
/* The keeper's program, as it was built: src/keeper/meson.build puts it into this one. */
#ifndef KEEPER_IMAGE_H
#define KEEPER_IMAGE_H

#include <stddef.h>

extern const unsigned char keeper_image[], keeper_image_end[];

static inline size_t keeper_image_bytes(void)
{
	return (size_t)(keeper_image_end - keeper_image);
}

#endif
