/* SPDX-License-Identifier: Apache-2.0 */
/* Which services are looked at in this step. */
#include <stdlib.h>

#include "core/service/service.h"
#include "core/state.h"

void service_note(struct core *c, struct service *s)
{
	if (s->is_noted)
		return;
	s->is_noted = true;
	TAILQ_INSERT_TAIL(&services_of(c)->noted, s, in_noted);
}

void services_note_domain(struct core *c, struct str domain)
{
	struct service_row row;
	struct service *s;

	EACH_OBJECT(s, c, KIND_SERVICE)
	{
		service_row(s, NULL, &row);
		if (str_eq(row.domain, domain))
			service_note(c, s);
	}
}

void service_scale_down(struct core *c, struct service *s, struct effects *out)
{
}

int service_restart(struct core *c, struct service *s, const struct event *ev, struct reply *r,
    struct effects *out)
{
	return problem_set(r->problem, ERR_NOT_FOUND, "there is no such instance");
}

void service_delete(struct core *c, struct service *s, struct effects *out)
{
	batch_delete(&out->batch, &service_table, s->object.id);
	service_forget(c, s);
}
