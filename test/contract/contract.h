/* SPDX-License-Identifier: Apache-2.0 */
/* What the contract suite's files share: a store of the backend under test, rows, short verbs. */
#ifndef CONTRACT_CONTRACT_H
#define CONTRACT_CONTRACT_H

/* cmocka wants these before itself */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "model/objects/built.h"
#include "model/objects/domain.h"
#include "model/objects/graph.h"
#include "model/objects/group.h"
#include "model/objects/schedule.h"
#include "model/objects/service.h"
#include "model/rows/row.h"
#include "store/store.h"

struct ctx {
	char dir[64];
	char url[128];
	struct store *s;
	struct store_reader *r;
	struct arena a;
	struct batch b;
	uint64_t seq;
	bool search; /* with an index of words; from the next ctx_reopen() on */
};

/* `backend` as in store_backend(). A further backend adds a line to the table in contract.c. */
void ctx_open(struct ctx *c, const char *backend);
void ctx_reopen(struct ctx *c);            /* closes and opens the same place */
void ctx_close(struct ctx *c);             /* and removes what it made */
const char *ctx_path(const struct ctx *c); /* of the sqlite file */

struct task_row *task_new(struct ctx *c, rid id, rid queue, int status);
/* One operation into the batch. */
void add_insert(struct ctx *c, const struct task_row *t);
void add_update(struct ctx *c, const struct task_row *t);
void add_output(struct ctx *c, rid task, int64_t token, int64_t offset, int32_t raw, int codec,
    struct str data);
void commit(struct ctx *c); /* must succeed; empties the batch */
int try_commit(struct ctx *c, struct problem *ret_problem);

/* Any values in every column; strings are sometimes absent, sometimes empty, never too long. */
void row_random(const struct row_table *t, struct rng *rng, struct arena *a, void *ret_row);
void assert_same_row(const struct row_table *t, const void *x, const void *y);

/* What a start is told of workers, schedules and tokens; it lives in the context's arena. */
#define START_SCHEDULES_MAX 16
struct start {
	struct ctx *c;
	struct schedule_row schedules[START_SCHEDULES_MAX];
	struct {
		rid schedule, task;
	} * tasks;
	size_t n_schedules, n_tasks, tasks_cap;
	struct token_row tokens[START_SCHEDULES_MAX];
	struct worker_row workers[START_SCHEDULES_MAX];
	struct group_row groups[START_SCHEDULES_MAX];
	struct graph_row graphs[START_SCHEDULES_MAX];
	struct domain_row domains[START_SCHEDULES_MAX];
	struct service_row services[START_SCHEDULES_MAX];
	struct revision_row revisions[START_SCHEDULES_MAX];
	struct instance_row instances[START_SCHEDULES_MAX];
	size_t n_tokens, n_workers, n_groups, n_graphs, n_domains, n_services, n_revisions,
	    n_instances;
	rid last_id;
};
void start_read(struct ctx *c, struct start *ret_start);

/* Tests that contract_store runs from other files. */
void test_output_inline(void **state);
void test_output_chunks(void **state);
void test_lying_chunks(void **state);
void test_prune_and_queue_delete_take_output_along(void **state);
void test_audit_chain(void **state);
void test_audit_kept_head(void **state);
void test_audit_refused_commit(void **state);
void test_audit_expired(void **state);
void test_audit_expired_in_order(void **state);
void test_audit_expires_while_checked(void **state);
void test_audit_is_part_of_the_start(void **state);
void test_token_round_trip(void **state);
void test_token_delete(void **state);
void test_filter_among_queues(void **state);
void test_group_round_trip(void **state);
void test_new_tasks_of_one_commit(void **state);
void test_tasks_by_their_ids(void **state);
void test_group_graph(void **state);
void test_jobs_of_a_group(void **state);
void test_live_jobs_at_start(void **state);
void test_built_jobs(void **state);
void test_graph_round_trip(void **state);
void test_graph_packages(void **state);
void test_service_round_trip(void **state);
void test_domain_round_trip(void **state);
void test_instances(void **state);
void test_revisions(void **state);
void test_schedule_round_trip(void **state);
void test_rest_changes_nothing(void **state);
void test_schedule_progress(void **state);
void test_schedule_delete(void **state);
void test_ticks_newest_first(void **state);
void test_ticks_oldest_first(void **state);
void test_ticks_expire(void **state);
void test_tasks_of_a_schedule(void **state);
void test_batch_round_trip(void **state);
void test_batch_goes_with_its_last_task(void **state);
void test_batch_is_joined_as_it_goes(void **state);
void test_batch_goes_with_its_queue(void **state);
void test_batch_from_before_rows(void **state);
void test_batches_by_name(void **state);
void test_batch_pace(void **state);
void test_load(void **state);

#endif
