/* SPDX-License-Identifier: Apache-2.0 */
/* Services and domains in the interface: what the files of this room share. */
#ifndef API_SERVICES_H
#define API_SERVICES_H

#include "api/objects/resource.h"
#include "api/objects/show.h"
#include "core/service/view.h"
#include "model/rows/row.h"

#define SERVICE_BIT(member) ROW_BIT(service_table, service_row, member)

/* A service as a request gives it. Texts are in the call's arena. */
struct service_in {
	struct call *c;
	struct service_row row; /* as it would be */
	uint64_t fields;        /* of it that were given */
	struct str reason;      /* why; NULL: nobody says */
	json_t *task;           /* a part of the body; NULL: not given */
	bool has_name;
};
/*
 * `base` is what it was before anything was said: of a change the service as it is, else the
 * defaults. On an error c->problem says it.
 */
int service_in_read(
    struct service_in *in, struct call *c, json_t *body, const struct service_row *base);
/* A new one needs a name and a task. */
int service_in_need(struct service_in *in);

/* show_service.c: into c->out, or as a value into the buffer */
void service_show(struct call *c, rid id);
void service_show_listed(struct call *c, rid id, bool full);
/* Only what people choose, so that two of them can be compared. */
void show_service_settings(struct buf *b, const struct api *a, const struct service_row *row);
void show_revision(struct buf *b, const struct api *a, const struct revision_view *v, bool full);
/* What another revision is made of. */
void show_spec(struct buf *b, const struct api *a, const struct service_spec *spec);

/* service_plan.c */
/* What a request would change, and nothing is: the answer. `old` NULL: it would be a new one. */
void service_plan(struct call *c, const struct service_in *in, const struct service_row *old);
/* The queue of those that name none, if it is there. */
rid service_queue_of(const struct call *c, const struct service_row *row);

/* service_metrics.c */
void service_figures(const struct metrics *m, const struct api_host *h, struct buf *b);
/* "services" of the status. */
void service_totals(struct call *c);

call_fn services_create, services_put, services_patch;       /* services.c */
call_fn services_revisions, services_diff;                   /* revisions.c */
call_fn services_instances, services_instance, services_why; /* instances.c */
call_fn services_deploy, services_promote, services_rollback, services_restart,
    services_stop; /* service_verbs.c */
extern const struct field revision_ask_fields[], rollback_ask_fields[], index_ask_fields[],
    index_needed_fields[];

#endif
