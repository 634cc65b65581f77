/* SPDX-License-Identifier: Apache-2.0 */
#include "service/file/place_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "service/file/input.h"
#include "service/file/place_internal.h"
#include "service/limits.h"

void place_file_release(struct place_file *f)
{
	arena_release(&f->arena);
	names_release(&f->worker_names);
	names_release(&f->services);
	names_release(&f->tasks);
	free(f->workers);
	free(f->worker_lines);
	free(f->runs);
	free(f->entries);
	*f = (struct place_file){0};
}

static int set_starting_weight(const struct node *v, void *arg, struct problem *p)
{
	struct place_file *f = arg;

	return node_decimal(
	    v, "starting_weight", SCORE_ONE, SERVICE_WEIGHT_MAX, &f->config.starting_weight, p);
}

static int set_bin_pack_weight(const struct node *v, void *arg, struct problem *p)
{
	struct place_file *f = arg;

	return node_decimal(
	    v, "bin_pack_weight", SCORE_ONE, SERVICE_WEIGHT_MAX, &f->config.bin_pack_weight, p);
}

static int set_starts_max(const struct node *v, void *arg, struct problem *p)
{
	struct place_file *f = arg;

	return node_count(v, "starts_max", 0, SERVICE_INSTANCES_MAX, &f->config.starts_max, p);
}

static int set_zones(const struct node *v, void *arg, struct problem *p)
{
	static const char *const ways[] = {"even", "hashed"};
	struct place_file *f = arg;
	unsigned way = 0;
	int rc = node_choice(v, "zones", ways, N_OF(ways), &way, p);

	f->config.zones_are_hashed = way == 1;
	return rc;
}

static int set_zone_names(const struct node *v, void *arg, struct problem *p)
{
	struct place_file *f = arg;
	int rc = node_list(v, "zone_names", 10000, STR_NULL, p);

	if (rc < 0)
		return rc;
	f->zones = arena_alloc(&f->arena, (v->n + 1) * sizeof *f->zones);
	for (const struct node *i = v->first; i; i = i->next) {
		struct str *to = &f->zones[f->config.n_zones++];

		if ((rc = node_name(i, "a zone", to, p)) < 0)
			return rc;
		*to = arena_str(&f->arena, *to);
	}
	f->config.zones = f->zones;
	return 0;
}

static const struct member config_members[] = {
    {"starting_weight", set_starting_weight},
    {"bin_pack_weight", set_bin_pack_weight},
    {"starts_max", set_starts_max},
    {"zones", set_zones},
    {"zone_names", set_zone_names},
};

static int read_config(const struct node *v, void *arg, struct problem *p)
{
	return map_read(v, "config", config_members, N_OF(config_members), arg, STR("config"), p);
}

static const struct file_member file_members[] = {
    {"workers", true, place_read_worker},
    {"work", true, place_read_work},
    {"config", false, read_config},
};

struct place_key {
	uint32_t service, index, line;
};

static int by_key(const void *a, const void *b)
{
	const struct place_key *x = a, *y = b;

	if (x->service != y->service)
		return x->service < y->service ? -1 : 1;
	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

/* No instance is asked for twice, by whatever entries. */
static int check_work(const struct place_file *f, struct problem *p)
{
	struct place_key *keys = xcalloc(f->n_work + 1, sizeof *keys);
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; i < f->n_entries; i++) {
		const struct place_entry *e = &f->entries[i];

		for (uint32_t k = 0; e->service != NO_SERVICE && k < e->n; k++)
			keys[n++] =
			    (struct place_key){e->service, e->indexes ? e->indexes[k] : k, e->line};
	}
	qsort(keys, n, sizeof *keys, by_key);
	for (size_t i = 1; rc == 0 && i < n; i++)
		if (keys[i].service == keys[i - 1].service && keys[i].index == keys[i - 1].index)
			rc = wrong_at(p, keys[i].line, f->services.texts[keys[i].service],
			    "index %u is here twice; the first is in line %u", keys[i].index,
			    keys[i - 1].line);
	free(keys);
	return rc;
}

int place_file_read(struct str text, struct place_file *ret_file, struct problem *p)
{
	struct place_file f = {.config = place_config_default};
	int rc = input_parse(
	    text, file_members, N_OF(file_members), "a file begins {\"workers\": [", &f, p);

	if (rc == 0)
		rc = check_work(&f, p);
	if (rc < 0)
		place_file_release(&f);
	else
		*ret_file = f;
	return rc;
}
