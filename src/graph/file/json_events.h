/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON as the events that the reader of files knows, many times faster than libyaml has them. Only
 * a text that is surely JSON, and surely means the same to both, is taken: everything else, and
 * whatever is wrong, is libyaml's to read and to refuse.
 */
#ifndef GRAPH_FILE_JSON_EVENTS_H
#define GRAPH_FILE_JSON_EVENTS_H

#include <yaml.h>

#include "base/str.h"

struct json_events {
	struct str text;
	size_t at;
	size_t line;
	int n_framing;       /* events that frame the value: two before it, two behind it */
	struct buf unquoted; /* of the present event, if it has escapes */
};

/* ASCII, no escapes by number, no deeper than a plan file may be. */
bool json_is_plain(struct str text);
/* The next event, which must not be deleted. Only of a text that is plain. */
void json_next_event(struct json_events *j, yaml_event_t *ret_event);

#endif
