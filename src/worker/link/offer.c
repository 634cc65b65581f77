/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this worker offers to tasks that need something: cores, memory and free disk as they are
 * found when it starts, unless they are configured, and whatever resources it is told to have.
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "model/lines.h"
#include "wire/json/need.h"
#include "worker/internal.h"

static int64_t found_cpu(void)
{
	cpu_set_t set;
	long n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
	                                                     : sysconf(_SC_NPROCESSORS_ONLN);

	return (n > 0 ? n : 1) * 1000;
}

/* What this machine has, or what a control group around this process leaves of it. */
static int64_t found_memory(void)
{
	int64_t pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	int64_t all = pages > 0 && size > 0 ? pages * size : 0;
	long long most = 0;
	FILE *f = fopen("/sys/fs/cgroup/memory.max", "re");

	if (f && fscanf(f, "%lld", &most) != 1)
		most = 0;
	if (f)
		fclose(f);
	return most > 0 && most < all ? most : all;
}

static int64_t found_disk(const char *dir)
{
	struct statvfs fs;
	int64_t bytes;

	if (!dir || statvfs(dir, &fs) < 0 ||
	    __builtin_mul_overflow((int64_t)fs.f_bavail, (int64_t)fs.f_frsize, &bytes))
		return 0;
	return bytes;
}

static void add(struct buf *lines, const char *name, int64_t given, int64_t found)
{
	int64_t n = given >= 0 ? given : found;

	amount_line(lines, str_of(name), n < AMOUNT_MAX ? n : AMOUNT_MAX);
}

static int add_resource(struct buf *lines, const char *item, size_t *n, struct problem *p)
{
	struct str value = str_of(item), name;
	int64_t amount;

	if (!str_next(&value, '=', &name) ||
	    amount_in(name, value, "worker.resources", true, &amount, p))
		return ERR_INVALID;
	if (amount_unit(name) != AMOUNT_PIECES || amount_of(buf_str(lines), name) >= 0) {
		problem_set(p, ERR_INVALID,
		    "worker.resources has \"%.*s\", which has a key of its own or is given twice",
		    (int)name.n, name.p);
		return problem_hint(p,
		    "worker.cpu, worker.memory, worker.disk, worker.instances and worker.ports are "
		    "those");
	}
	if (++*n > RESOURCES_MAX)
		return problem_set(
		    p, ERR_INVALID, "worker.resources has more than %d", RESOURCES_MAX);
	amount_line(lines, name, amount);
	return 0;
}

static int given_cpu(const char *text, int64_t *ret, struct problem *p)
{
	*ret = -1;
	return text ? amount_in(STR(AMOUNT_CPU), str_of(text), "worker.cpu", true, ret, p) : 0;
}

int offer_gather(const struct worker_options *o, size_t n_ports, struct arena *a,
    struct str *ret_offer, struct problem *p)
{
	AUTO(buf_release) struct buf lines = {0};
	size_t n = 0;
	int64_t cpu;
	int rc = given_cpu(o->cpu, &cpu, p);

	if (rc)
		return rc;
	add(&lines, AMOUNT_CPU, cpu, found_cpu());
	add(&lines, AMOUNT_MEMORY, o->memory ? o->memory : -1, found_memory());
	add(&lines, AMOUNT_DISK, o->disk ? o->disk : -1, found_disk(o->state_dir));
	amount_line(&lines, STR(AMOUNT_INSTANCES), o->instances);
	if (n_ports)
		amount_line(&lines, STR(AMOUNT_PORTS), (int64_t)n_ports);
	for (const char *const *item = o->resources; item && *item && !rc; item++)
		rc = add_resource(&lines, *item, &n, p);
	if (!rc)
		*ret_offer = lines_sorted(a, buf_str(&lines));
	return rc;
}
