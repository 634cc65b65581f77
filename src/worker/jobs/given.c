/* SPDX-License-Identifier: Apache-2.0 */
/* What an attempt is given beside its settings: ports, an address, and whose start it is. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/limits.h"
#include "worker/internal.h"

#define CODE_REFUSED 126

static int settle_check(const struct job *j, struct run_check *c, char *why, size_t size)
{
	if (!c->given_port)
		return 0;
	if ((size_t)c->given_port > j->n_ports) {
		snprintf(why, size, "a check wants the port $PORT%d, and so many were given: %zu",
		    c->given_port - 1, j->n_ports);
		return CODE_REFUSED;
	}
	c->port = j->ports[c->given_port - 1];
	return 0;
}

int given_settle_checks(struct job *j, char *why, size_t size)
{
	int r = settle_check(j, &j->checks.startup, why, size);

	r = r ? r : settle_check(j, &j->checks.liveness, why, size);
	return r ? r : settle_check(j, &j->checks.readiness, why, size);
}

int given_take_ports(struct job *j, uint32_t n, char *why, size_t size)
{
	uint16_t ports[PORTS_MAX];

	MUST(n <= PORTS_MAX);
	if (n == 0)
		return 0;
	if (!j->w->ports.first) {
		snprintf(why, size, "this worker gives no ports: it has no worker.ports");
		return SPAWN_NOT_MADE;
	}
	if (!ports_take(&j->w->ports, n, ports)) {
		snprintf(why, size, "no %u free ports in worker.ports (%s)", (unsigned)n,
		    j->w->o->ports);
		return SPAWN_NOT_MADE;
	}
	j->ports = arena_memdup(&j->memory, ports, n * sizeof *ports);
	j->n_ports = n;
	return 0;
}

static void set_number(struct env *e, const char *name, int64_t n)
{
	char text[32];

	snprintf(text, sizeof text, "%lld", (long long)n);
	env_set(e, str_of(name), str_of(text));
}

static void set_ports(const struct job *j, struct env *e)
{
	AUTO(buf_release) struct buf all = {0};
	char name[32];

	for (size_t i = 0; i < j->n_ports; i++) {
		snprintf(name, sizeof name, "PORT%zu", i);
		set_number(e, name, j->ports[i]);
		buf_printf(&all, "%s%u", i ? "," : "", (unsigned)j->ports[i]);
	}
	set_number(e, "PORT", j->ports[0]);
	env_set(e, STR("REEVE_PORTS"), buf_str(&all));
}

/* Stronger than what the task says: its checks go by these. */
void given_environment(const struct job *j, const struct link_run *r, struct env *e)
{
	const struct link_instance *i = &r->instance;

	if (j->n_ports)
		set_ports(j, e);
	if (j->w->address[0] && (j->n_ports || i->service.p))
		env_set(e, STR("REEVE_ADDRESS"), str_of(j->w->address));
	if (!i->service.p)
		return;
	env_set(e, STR("REEVE_SERVICE"), i->service);
	set_number(e, "REEVE_INSTANCE", i->index);
	set_number(e, "REEVE_REVISION", i->revision);
}

enum { MARK_UP = 1, MARK_READY = 2 };

/* The strings live as long as the step. */
static void tell_server(struct job *j)
{
	AUTO(buf_release) struct buf ports = {0};

	for (size_t i = 0; i < j->n_ports; i++)
		buf_printf(&ports, "%u\n", (unsigned)j->ports[i]);
	worker_feed(j->w, (struct agent_event){.kind = AE_FARES,
	                      .task = j->task,
	                      .token = j->token,
	                      .fares = {.is_up = j->is_up,
	                          .is_ready = j->is_ready,
	                          .address = str_of(j->w->address[0] ? j->w->address : NULL),
	                          .ports = buf_str(&ports)}});
}

void job_fares(struct job *j)
{
	if (j->keeps)
		kept_mark(&j->kept, (j->is_up ? MARK_UP : 0) | (j->is_ready ? MARK_READY : 0));
	if (j->is_instance)
		tell_server(j);
}

void job_marked(struct job *j, uint64_t mark)
{
	j->is_up = mark & MARK_UP;
	j->is_ready = j->is_up && mark & MARK_READY;
}

void given_address(struct worker *w)
{
	char address[sizeof w->address];
	struct kept *k;

	if (w->o->address)
		snprintf(address, sizeof address, "%s", w->o->address);
	else if (!link_own_host(w->link, address, sizeof address))
		return;
	if (strcmp(address, w->address) == 0)
		return;
	memcpy(w->address, address, sizeof address);
	TAILQ_FOREACH (k, &w->keeper.all, entry)
		if (k->fns == &process_job_fns && CONTAINER_OF(k, struct job, kept)->monitoring)
			job_fares(CONTAINER_OF(k, struct job, kept));
}
