/* SPDX-License-Identifier: Apache-2.0 */
/* Units: the records of instances in memory, where they are, and how they are written. */
#ifndef CORE_SERVICE_UNIT_H
#define CORE_SERVICE_UNIT_H

#include "core/service/service.h"
#include "core/service/worker.h"

struct link_fares;

/* unit.c */
/* Where that one is, or would be, among the service's units. */
size_t unit_place(const struct service *s, int64_t index, int presence);
struct unit *unit_find(const struct service *s, int64_t index, enum presence presence);
/* The one whose present start is that task; NULL: there is none. */
struct unit *unit_of_task(const struct core *c, const struct service *s, const struct task *t);
struct unit *unit_add(
    struct core *c, struct service *s, uint32_t index, enum presence presence, int64_t revision);
void unit_remove(struct core *c, struct unit *u, struct effects *out);
/* The unit's key is another then. */
void unit_set_presence(struct core *c, struct unit *u, enum presence presence, struct effects *out);
void unit_move(struct core *c, struct unit *u, enum instance_state to);
void unit_set_revision(struct unit *u, int64_t revision);
void unit_set_ready(struct core *c, struct unit *u, bool ready);
/* The unit will be written at the end of the step, with a tag of its own. */
void unit_touch(struct core *c, struct unit *u);
/* That start has ended, and its logs are the last that there are. */
void unit_set_last(struct core *c, struct unit *u, rid task);
enum unit_text { TEXT_ADDRESS, TEXT_PORTS, TEXT_CRASH, TEXT_PLACE, N_UNIT_TEXTS };
/* True: it was another. Cut to its limit. */
bool unit_set_text(struct unit *u, enum unit_text which, struct str text);
struct str unit_text(const struct unit *u, enum unit_text which);
void unit_row(const struct unit *u, struct instance_row *ret_row);
void unit_load(struct core *c, const struct instance_row *row);
void unit_free(struct core *c, struct unit *u);
void units_write(struct core *c, struct effects *out);
static inline bool unit_is_on_worker(const struct unit *u)
{
	return u->i.state == INSTANCE_CLAIMED || u->i.state == INSTANCE_RUNNING;
}

/* site.c: workers, as services see them */
struct site {
	struct worker *worker; /* NULL: it is gone */
	uint32_t number;
	uint8_t seen; /* enum seen_worker */
	bool is_drained, may_start, is_noted;
	uint64_t generation,
	    labels_build; /* of the worker and of the labels, when they were made: */
	char *texts;      /* what follows, one allocation */
	struct str name, zone, target, labels;
	struct unit_list units;
	uint32_t n_units, n_starting;
	TAILQ_ENTRY(site) in_noted;
};
TAILQ_HEAD(site_list, site);
/* The unit's present start is there, or no longer. */
void unit_enter_site(struct core *c, struct unit *u, struct worker *w);
void unit_leave_site(struct core *c, struct unit *u);
void unit_is_up(struct core *c, struct unit *u); /* it is started no more */
void sites_init(struct core *c);
void sites_release(struct core *c);
/* As src/service counts workers: those whose units are in limbo come first. */
#define SEEN_IN_LIMBO 0
#define SEEN_OF(number) ((number) + 1)
void site_set_number(struct core *c, struct site *s, uint32_t number);
void sites_compact(struct core *c);
void sites_refresh(struct core *c);
size_t sites_missed(struct core *c); /* that have changed, and nobody has said so */
void sites_relabel(struct core *c);  /* services have a queue that they had not */

/* limbo.c: what a lost worker had, until it is certainly over */
void unit_enter_limbo(struct core *c, struct unit *u, int64_t hold_ms);
void unit_leave_limbo(struct core *c, struct unit *u);

/* line.c: what waits for a place */
bool unit_may_start(struct core *c, struct unit *u);
void unit_ask(struct core *c, struct unit *u); /* UNCLAIMED: it waits, or does not yet */
void unit_unask(struct core *c, struct unit *u);
void services_again(struct core *c, int64_t in_ms); /* a further step is wanted */
void unit_no_place(struct core *c, struct unit *u, struct str why);

/* start.c */
/* False: the books say that the worker has no room for it after all. */
bool unit_start(struct core *c, struct unit *u, struct worker *w, struct effects *out);
/* The unit's worker is told to stop it; the record goes when it is over. */
void unit_tell(struct core *c, struct unit *u, struct str reason, struct effects *out);

#endif
