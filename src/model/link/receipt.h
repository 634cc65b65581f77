/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a volatile server gives with an order: the worker shows it in its hellos, and only the
 * server can tell whether it holds. To everybody else it is sixteen bytes. All zero: none.
 */
#ifndef MODEL_RECEIPT_H
#define MODEL_RECEIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECEIPT_BYTES 16

struct receipt {
	uint8_t bytes[RECEIPT_BYTES];
};

static inline bool receipt_is_given(const struct receipt *r)
{
	uint8_t any = 0;

	for (size_t i = 0; i < RECEIPT_BYTES; i++)
		any |= r->bytes[i];
	return any != 0;
}

#endif
