/* SPDX-License-Identifier: Apache-2.0 */
/* Policies, strategies and records of instances, as the files of several commands have them. */
#ifndef SERVICE_FILE_LIFE_VALUES_H
#define SERVICE_FILE_LIFE_VALUES_H

#include "service/deploy/deploy.h"
#include "service/file/input.h"

/* A map; what it does not say stays as it is. */
int policy_read(const struct node *v, struct crash_policy *policy, struct problem *p);
int strategy_read(const struct node *v, struct deploy_strategy *strategy, struct problem *p);

/* A record as a file says it. Its texts are those of the file's entry, and go with that. */
struct record_values {
	struct instance instance; /* without service and worker */
	struct str key, service, worker, domain;
	bool has_age, has_asked, has_crashed_at;
};
int record_read(const struct node *v, struct record_values *ret_record, struct problem *p);
/* An age becomes a time; what was not said follows from since when it is so. */
void record_settle(struct record_values *r, int64_t now_ms);

#endif
