/* SPDX-License-Identifier: Apache-2.0 */
/* The line discipline of text/event-stream; events that are too long are dropped whole. */
#include "cli/reach/sse.h"

#include <stdio.h>
#include <string.h>

void sse_release(struct sse *s)
{
	buf_release(&s->line);
	buf_release(&s->data);
}

void sse_reset(struct sse *s)
{
	buf_reset(&s->line);
	buf_reset(&s->data);
	s->event[0] = 0;
	s->skip_lf = s->overlong = false;
}

static void dispatch(struct sse *s)
{
	if (s->data.n > 0 && !s->overlong) {
		s->data.p[s->data.n - 1] = 0; /* the last newline does not belong to it */
		s->fn(s->event[0] ? s->event : "message", s->data.p, s->arg);
	}
	buf_reset(&s->data);
	s->event[0] = 0;
	s->overlong = false;
}

static void field(struct sse *s, struct str name, struct str value)
{
	if (str_is(name, "data")) {
		if (s->data.n + value.n > SSE_EVENT_MAX) {
			s->overlong = true;
			return;
		}
		buf_add_str(&s->data, value);
		buf_add_char(&s->data, '\n');
	} else if (str_is(name, "event")) {
		snprintf(s->event, sizeof s->event, STR_FMT, STR_ARG(value));
	} else if (str_is(name, "id") && !memchr(value.p ? value.p : "", 0, value.n)) {
		snprintf(s->last_id, sizeof s->last_id, STR_FMT, STR_ARG(value));
	}
}

static void end_line(struct sse *s)
{
	struct str line = buf_str(&s->line), value = STR("");
	const char *colon = line.n ? memchr(line.p, ':', line.n) : NULL;

	if (line.n == 0) {
		dispatch(s);
	} else if (colon != line.p) { /* else a comment */
		struct str name = line;

		if (colon) {
			name.n = (size_t)(colon - line.p);
			value = (struct str){colon + 1, line.n - name.n - 1};
			if (value.n > 0 && value.p[0] == ' ')
				value = (struct str){value.p + 1, value.n - 1};
		}
		field(s, name, value);
	}
	buf_reset(&s->line);
}

void sse_feed(struct sse *s, struct str bytes)
{
	for (size_t i = 0; i < bytes.n; i++) {
		char c = bytes.p[i];

		if (s->skip_lf && c == '\n') {
			s->skip_lf = false;
			continue;
		}
		s->skip_lf = c == '\r';
		if (c == '\n' || c == '\r')
			end_line(s);
		else if (s->line.n < SSE_EVENT_MAX)
			buf_add_char(&s->line, c);
		else
			s->overlong = true;
	}
}
