/* SPDX-License-Identifier: Apache-2.0 */
/* What a frame says of instances of services, there and back. */
#include <string.h>

#include "base/mem.h"
#include "model/limits.h"
#include "model/lines.h"
#include "service/life/container.h"
#include "wire/decode.h"
#include "wire/encode.h"
#include "wire/text.h"

#define NEED_LINES_MAX 256
#define NEED_LINE_MAX 512
#define ADDRESS_MAX_BYTES 255
#define INDEX_MAX 10000000

char **encode_lines(struct arena *a, struct str lines, size_t *ret_n)
{
	size_t n = lines_count(lines), i = 0;
	char **items = arena_alloc(a, n * sizeof *items);
	struct str item;

	while (i < n && lines_next(&lines, &item))
		items[i++] = encode_cstr(a, item);
	*ret_n = i;
	return items;
}

Reeve__Instance *encode_instance(const struct link_instance *from, struct arena *a)
{
	Reeve__Instance *m;

	if (!from->service.p)
		return NULL;
	m = arena_alloc(a, sizeof *m);
	*m = (Reeve__Instance)REEVE__INSTANCE__INIT;
	m->service = encode_cstr(a, from->service);
	m->domain = encode_cstr(a, from->domain);
	OPTIONAL(m, index, from->index);
	OPTIONAL(m, revision, from->revision);
	m->need = encode_lines(a, from->need, &m->n_need);
	return m;
}

Reeve__Fares *encode_fares(const struct link_fares *from, struct arena *a)
{
	Reeve__Fares *m = arena_alloc(a, sizeof *m);
	struct str rest = from->ports, one;
	int64_t port;

	*m = (Reeve__Fares)REEVE__FARES__INIT;
	OPTIONAL(m, container, from->container);
	OPTIONAL(m, up, from->is_up);
	OPTIONAL(m, ready, from->is_ready);
	m->address = encode_cstr(a, from->address);
	m->ports = arena_alloc(a, lines_count(rest) * sizeof *m->ports);
	while (lines_next(&rest, &one))
		if (str_to_i64(one, 1, 65535, &port))
			m->ports[m->n_ports++] = (uint32_t)port;
	return m;
}

/* Any lines: what they mean is read by those who know all kinds of them. */
static bool get_lines(char **items, size_t n, struct arena *a, struct str *ret)
{
	AUTO(buf_release) struct buf b = {0};

	for (size_t i = 0; i < n; i++) {
		if (!text_is_name(str_of(items[i]), NEED_LINE_MAX))
			return false;
		lines_add(&b, str_of(items[i]));
	}
	*ret = n ? arena_str(a, buf_str(&b)) : STR_NULL;
	return n <= NEED_LINES_MAX;
}

int decode_instance(
    const Reeve__Instance *m, struct arena *a, struct link_instance *ret, struct problem *p)
{
	*ret = (struct link_instance){0};
	if (!m)
		return 0;
	CHECK(text_is_name(str_of(m->service), NAME_MAX_BYTES), "instance.service");
	CHECK(!m->domain || text_is_name(str_of(m->domain), NAME_MAX_BYTES), "instance.domain");
	CHECK(m->index <= INDEX_MAX, "instance.index");
	CHECK(m->revision >= 0, "instance.revision");
	ret->service = str_of(m->service);
	ret->domain = str_of(m->domain);
	ret->index = m->index;
	ret->revision = m->revision;
	CHECK(get_lines(m->need, m->n_need, a, &ret->need), "instance.need");
	return 0;
}

int decode_fares(const Reeve__Fares *m, struct arena *a, struct link_fares *ret, struct problem *p)
{
	AUTO(buf_release) struct buf ports = {0};

	*ret = (struct link_fares){0};
	if (!m)
		return 0;
	CHECK(m->container >= 0 && m->container < N_CONTAINER_STATES, "fares.container");
	CHECK(m->up || !m->ready, "fares.ready");
	CHECK(!m->address || text_is_name(str_of(m->address), ADDRESS_MAX_BYTES), "fares.address");
	CHECK(m->n_ports <= PORTS_MAX, "fares.ports");
	for (size_t i = 0; i < m->n_ports; i++) {
		CHECK(m->ports[i] >= 1 && m->ports[i] <= 65535, "fares.ports");
		buf_printf(&ports, "%u\n", (unsigned)m->ports[i]);
	}
	*ret = (struct link_fares){.container = m->container,
	    .is_up = m->up,
	    .is_ready = m->ready,
	    .address = str_of(m->address),
	    .ports = ports.n ? arena_str(a, buf_str(&ports)) : STR_NULL};
	return 0;
}
