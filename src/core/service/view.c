/* SPDX-License-Identifier: Apache-2.0 */
#include "core/service/view.h"

#include <stdlib.h>

#include "core/service/service.h"
#include "core/state.h"

const struct domain_row *core_domain(const struct core *c, rid id)
{
	const struct domain *d = object_find(c, KIND_DOMAIN, id);

	return d ? &d->row : NULL;
}

bool core_domain_is_fresh(const struct core *c, struct str name, int64_t now_ms)
{
	const struct domain *d = name.n ? object_find_name(c, KIND_DOMAIN, name) : NULL;

	return d && domain_is_fresh(&d->row, now_ms);
}

size_t core_domain_services(const struct core *c, struct str name)
{
	const struct service *s;
	struct service_row row;
	size_t n = 0;

	EACH_OBJECT(s, c, KIND_SERVICE)
	{
		service_row(s, NULL, &row);
		n += str_eq(row.domain, name);
	}
	return n;
}

bool core_service(const struct core *c, rid id, struct arena *a, struct service_view *ret_view)
{
	const struct service *s = service_find(c, id);

	*ret_view = (struct service_view){0};
	if (!s)
		return false;
	service_row(s, a, &ret_view->row);
	ret_view->queue = core_name(c, KIND_QUEUE, ret_view->row.spec.queue);
	ret_view->n_revisions = s->n_revisions;
	return true;
}

size_t core_service_revisions(
    const struct core *c, rid id, struct arena *a, struct revision_view **ret_views)
{
	const struct service *s = service_find(c, id);
	size_t n = s ? s->n_revisions : 0;
	struct revision_view *v = *ret_views = arena_zalloc(a, (n + 1) * sizeof *v);

	for (size_t i = 0; i < n; i++) {
		const struct revision *r = &s->revisions[n - 1 - i];

		revision_row(s, r, a, &v[i].row);
		v[i].queue = core_name(c, KIND_QUEUE, v[i].row.spec.queue);
		v[i].is_target = r->number == s->deploy.target;
		v[i].is_stable = r->number == s->deploy.stable;
		v[i].instances = r->n_units;
	}
	return n;
}
