/* SPDX-License-Identifier: Apache-2.0 */
/* Which members of the link's words are strings, and deep copies by these lists. */
#include "model/link/link.h"

#include <stddef.h>

/* A new string is a line here; the size is that of the struct when its list was last looked at. */
#define STRINGS_OF(type, size, ...)                                                  \
	const struct link_strings type##_strings = {(const uint16_t[]){__VA_ARGS__}, \
	    sizeof((const uint16_t[]){__VA_ARGS__}) / sizeof(uint16_t)};             \
	_Static_assert(sizeof(void *) != 8 || sizeof(struct type) == (size),         \
	    "struct " #type " has changed: is each string in its list, and copied?")

#define HELD(member) offsetof(struct link_held, member)
STRINGS_OF(link_held, 176, HELD(instance.service), HELD(instance.domain), HELD(instance.need),
    HELD(queue), HELD(fares.address), HELD(fares.ports));

#define NEED(member) offsetof(struct link_need, member)
STRINGS_OF(link_need, 160, NEED(job), NEED(state), NEED(worker), NEED(host), NEED(target),
    NEED(reason), NEED(result));

#define RUN(member) offsetof(struct link_run, member)
STRINGS_OF(link_run, 280, RUN(queue), RUN(plugin), RUN(body), RUN(env), RUN(run_settings),
    RUN(instance.service), RUN(instance.domain), RUN(instance.need));

static void *copy_all(
    struct arena *a, const struct link_strings *strings, const void *from, size_t n, size_t size)
{
	char *all = arena_memdup(a, from, n * size);

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < strings->n; k++) {
			struct str *s = link_string(all + i * size, strings, k);

			*s = arena_str(a, *s);
		}
	return all;
}

struct link_held *link_held_copy(struct arena *a, const struct link_held *from, size_t n)
{
	return copy_all(a, &link_held_strings, from, n, sizeof *from);
}

struct link_run *link_run_copy(struct arena *a, const struct link_run *from)
{
	struct link_run *to = copy_all(a, &link_run_strings, from, 1, sizeof *from);

	to->needs =
	    copy_all(a, &link_need_strings, from->needs, from->n_needs, sizeof *from->needs);
	return to;
}
