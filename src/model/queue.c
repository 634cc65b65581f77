/* SPDX-License-Identifier: Apache-2.0 */
#include "model/queue.h"

#include "model/limits.h"

const char *const queue_order_names[N_ORDERS] = {"fifo", "lifo", "priority"};
const char *const output_mode_names[N_OUTPUT_MODES] = {"auto", "inline", "chunks"};

static int index_of(struct str s, const char *const *names, int n)
{
	for (int i = 0; i < n; i++)
		if (str_is(s, names[i]))
			return i;
	return -1;
}

int queue_order_parse(struct str s)
{
	return index_of(s, queue_order_names, N_ORDERS);
}

int output_mode_parse(struct str s)
{
	return index_of(s, output_mode_names, N_OUTPUT_MODES);
}

void queue_defaults(struct queue_row *ret_row)
{
	*ret_row = (struct queue_row){
	    .plugin = STR(PLUGIN_COMMAND),
	    .threads = -1,
	    .order = ORDER_FIFO,
	    .max_attempts = 1,
	    .backoff_ms = 1000,
	    .backoff_max_ms = 3600 * 1000,
	    .output_max = OUTPUT_MAX_DEFAULT,
	    .version = 1,
	};
}
