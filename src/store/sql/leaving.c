/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an older schema cannot hold, and how much of it there is. Most is set aside by the step that
 * leads down, and comes back with the one that leads up again; what the older program would make
 * untrue is lost. Each is counted before the first step, so its question is one that every version
 * from its own on can answer.
 */
#include "store/sql/migrate.h"

#define COUNT(rows) "SELECT count(*) FROM " rows
#define SUMS(table) "(SELECT count(sum) FROM " table ")"

struct leaving {
	int version; /* the first that can hold it */
	bool is_lost;
	const char *one, *many;
	const char *count;
};

static const struct leaving leavings[] = {
    {26, false, "service", "services", COUNT("service")},
    {26, false, "revision of a service", "revisions of services", COUNT("revision")},
    {26, false, "instance of a service", "instances of services", COUNT("instance")},
    {26, false, "start of an instance", "starts of instances",
        COUNT("task WHERE owner_kind = 7 AND owner <> 0")},
    {26, false, "domain", "domains", COUNT("domain")},
    {26, false, "end of a drain", "ends of drains", COUNT("worker WHERE drain_until_ms <> 0")},
    {24, false, "digest of what a job was built from", "digests of what jobs were built from",
        COUNT("built WHERE digest IS NOT NULL")},
    {23, false, "schedule of groups", "schedules of groups",
        COUNT("schedule WHERE group_text IS NOT NULL")},
    {23, false, "group of a schedule", "groups of schedules", COUNT("groups WHERE schedule <> 0")},
    {21, false, "group of a series", "groups of a series",
        COUNT("groups WHERE series IS NOT NULL")},
    {21, false, "job of a series", "jobs of a series", COUNT("built")},
    {20, false, "group's origin", "groups' origins", COUNT("groups WHERE retried_of <> 0")},
    {19, false, "graph of packages", "graphs of packages", COUNT("graph")},
    {18, false, "group", "groups", COUNT("groups")},
    {18, false, "job of a group", "jobs of groups",
        COUNT("task WHERE owner_kind = 4 AND owner <> 0")},
    {17, false, "need of a task, queue or schedule", "needs of tasks, queues and schedules",
        "SELECT (SELECT count(*) FROM task WHERE need IS NOT NULL OR charged IS NOT NULL) + "
        "(SELECT count(*) FROM schedule WHERE need IS NOT NULL) + "
        "(SELECT count(*) FROM queue WHERE need IS NOT NULL OR placement <> 0)"},
    {17, false, "offer of a worker", "offers of workers", COUNT("worker WHERE offer IS NOT NULL")},
    {16, false, "task with a streamed input", "tasks with a streamed input",
        COUNT("task WHERE streamed <> 0")},
    {16, false, "streamed input", "streamed inputs", COUNT("input")},
    {15, false, "name of a task", "names of tasks", COUNT("task WHERE name IS NOT NULL")},
    {15, false, "submitter of a task", "submitters of tasks",
        COUNT("task WHERE actor IS NOT NULL")},
    {15, false, "record of what was done to a task", "records of what was done to tasks",
        COUNT("task WHERE deeds IS NOT NULL")},
    {14, false, "batch's row", "batches' rows", COUNT("task_batch")},
    {13, false, "worker that left or is drained", "workers that left or are drained",
        COUNT("worker WHERE departed <> 0 OR drained <> 0")},
    {12, false, "owner of a task", "owners of tasks", COUNT("task WHERE owner_kind <> 0")},
    {11, false, "count of attempts before a retry", "counts of attempts before a retry",
        COUNT("task WHERE attempts_before <> 0")},
    {10, false, "mark of unwritten starts", "marks of unwritten starts",
        COUNT("worker WHERE unwritten <> 0")},
    {9, true, "link of the audit trail's chain", "links of the audit trail's chain",
        COUNT("event WHERE hash IS NOT NULL")},
    {8, true, "row's checksum", "rows' checksums",
        "SELECT (SELECT count(spec_sum) FROM task) + " SUMS("queue") "+" SUMS("schedule") "+" SUMS("output") "+" SUMS(
            "worker") "+" SUMS("event") "+" SUMS("idem") "+" SUMS("meta") "+" SUMS("tick") "+" SUMS("stat") "+" SUMS("token")},
    {7, false, "token", "tokens", COUNT("token")},
    {6, false, "key of a worker", "keys of workers", COUNT("worker WHERE link_key IS NOT NULL")},
    {5, false, "mark of doubtful times", "marks of doubtful times",
        COUNT("task WHERE times_doubtful <> 0")},
    {4, false, "schedule", "schedules", COUNT("schedule")},
    {4, false, "tick", "ticks", COUNT("tick")},
    {3, false, "queue's run settings", "queues' run settings",
        COUNT("queue WHERE run IS NOT NULL")},
    {3, false, "result", "results", COUNT("task WHERE result IS NOT NULL")},
    {3, false, "task's usage", "tasks' usages", COUNT("task WHERE usage IS NOT NULL")},
    {1, true, "task", "tasks", COUNT("task")},
    {1, true, "queue", "queues", COUNT("queue")},
    {1, true, "worker", "workers", COUNT("worker")},
    {1, true, "event", "events", COUNT("event")},
};

/* "3 tokens, 1 schedule and 340 ticks": the last one's word comes when all are known. */
struct list {
	struct buf *words;
	size_t last; /* where the last one begins, behind its comma */
};

static void list_add(struct list *l, const struct leaving *what, int64_t n)
{
	if (l->words->n) {
		buf_add_cstr(l->words, ", ");
		l->last = l->words->n;
	}
	buf_printf(l->words, "%lld %s", (long long)n, n == 1 ? what->one : what->many);
}

static void list_end(struct list *l)
{
	struct buf all = {0};

	if (!l->last)
		return;
	buf_add(&all, l->words->p, l->last - 2);
	buf_add_cstr(&all, " and ");
	buf_add_cstr(&all, l->words->p + l->last);
	buf_release(l->words);
	*l->words = all;
}

static int count_all(const struct migrate_door *door, int from, int to, struct list *aside,
    struct list *lost, struct problem *ret_problem)
{
	for (size_t i = 0; i < sizeof leavings / sizeof leavings[0]; i++) {
		const struct leaving *what = &leavings[i];
		int64_t n = 0;
		int rc;

		if (what->version > from || what->version <= to)
			continue;
		rc = door->count(door->arg, what->count, &n, ret_problem);
		if (rc)
			return rc;
		if (n)
			list_add(what->is_lost ? lost : aside, what, n);
	}
	return 0;
}

int sql_count_leaving(const struct migrate_door *door, int from, struct store_migration *m,
    struct problem *ret_problem)
{
	struct list aside = {.words = &m->set_aside}, lost = {.words = &m->lost};
	int rc = count_all(door, from, m->version, &aside, &lost, ret_problem);

	list_end(&aside);
	list_end(&lost);
	if (rc || m->lose || !m->lost.n)
		return rc;
	problem_set(
	    ret_problem, ERR_CONFLICT, "schema version %d cannot hold %s", m->version, m->lost.p);
	return problem_hint(
	    ret_problem, "make a backup (reeve backup FILE), then say it again with --lose");
}
