/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/jobs/jobs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph/limits.h"

static const struct {
	enum after after;
	const char *name;
} afters[] = {{AFTER_SUCCESS, "success"}, {AFTER_END, "end"}, {AFTER_FAILURE, "failure"}};

const char *after_name(enum after a)
{
	for (size_t i = 0; i < sizeof afters / sizeof *afters; i++)
		if (afters[i].after == a)
			return afters[i].name;
	return "";
}

bool after_parse(struct str s, enum after *ret_after)
{
	for (size_t i = 0; i < sizeof afters / sizeof *afters; i++)
		if (str_is(s, afters[i].name)) {
			*ret_after = afters[i].after;
			return true;
		}
	return false;
}

void job_specs_drop_needs(struct job_specs *l)
{
	for (size_t i = 0; i < l->n; i++) {
		l->jobs[i].needs = NULL;
		l->jobs[i].n_needs = 0;
	}
	arena_release(&l->needs);
}

void job_specs_release(struct job_specs *l)
{
	arena_release(&l->arena);
	arena_release(&l->needs);
	free(l->jobs);
	*l = (struct job_specs){0};
}

struct job *job_specs_add(struct job_specs *l)
{
	GROW(l->jobs, l->cap, l->n + 1);
	l->jobs[l->n] = (struct job){0};
	return &l->jobs[l->n++];
}

/* The control characters above ASCII are two bytes, the first of which is this one. */
#define C1_FIRST 0xc2

/* What turns the direction of text, or is seen nowhere, is three bytes (U+200E, U+202A to U+202E,
 * U+2066 to U+2069, the ends of lines U+2028 and U+2029) or two (U+061C): it would show a name as
 * another one. */
static bool is_turn(struct str s, size_t i)
{
	static const char *const all[] = {"\u061c", "\u200e", "\u200f", "\u2028", "\u2029",
	    "\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068",
	    "\u2069"};

	for (size_t k = 0; k < sizeof all / sizeof *all; k++)
		if (s.n - i >= strlen(all[k]) && !memcmp(s.p + i, all[k], strlen(all[k])))
			return true;
	return false;
}

static bool is_bad_byte(struct str s, size_t i)
{
	unsigned char c = (unsigned char)s.p[i];
	unsigned char next = i + 1 < s.n ? (unsigned char)s.p[i + 1] : 0;

	return c < 0x20 || c == 0x7f || strchr(",[]\"\\", c) ||
	       (c == C1_FIRST && next >= 0x80 && next < 0xa0) || (c >= 0x80 && is_turn(s, i));
}

int job_name_check(struct str name, const char *what, struct problem *p)
{
	if (name.n == 0)
		return problem_set(p, ERR_INVALID, "%s is empty", what);
	if (name.n > JOB_NAME_MAX)
		return problem_set(p, ERR_TOO_LARGE, "%s has %zu bytes; it may have %d", what,
		    name.n, JOB_NAME_MAX);
	for (size_t i = 0; i < name.n; i++)
		if (is_bad_byte(name, i))
			return problem_set(p, ERR_INVALID,
			    "%s has a character that none may have, at its byte %zu: control "
			    "characters, marks that turn text around, and , [ ] \" \\ are not "
			    "allowed",
			    what, i + 1);
	return 0;
}

void job_plan_release(struct job_plan *j)
{
	dag_release(&j->dag);
	free(j->elements);
	free(j->first);
	*j = (struct job_plan){0};
}

struct str job_element_value(const struct job_plan *j, uint32_t element, uint32_t axis)
{
	const struct job *job = &j->list->jobs[j->elements[element].job];
	uint32_t cell = j->elements[element].cell;

	for (uint32_t i = job->n_axes; i-- > axis + 1;)
		cell /= job->axes[i].n;
	return job->axes[axis].values[cell % job->axes[axis].n];
}

void job_element_name(const struct job_plan *j, uint32_t element, struct buf *out)
{
	const struct job *job = &j->list->jobs[j->elements[element].job];

	buf_add_str(out, job->name);
	for (uint32_t i = 0; i < job->n_axes; i++) {
		buf_add_char(out, i ? ',' : '[');
		buf_add_str(out, job->axes[i].name);
		buf_add_char(out, '=');
		buf_add_str(out, job_element_value(j, element, i));
	}
	if (job->n_axes)
		buf_add_char(out, ']');
}
