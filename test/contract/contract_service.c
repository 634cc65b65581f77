/* SPDX-License-Identifier: Apache-2.0 */
/* Services, their revisions and instances, and domains: written, read at a start, dropped alone. */
#include "contract.h"

#define SERVICES 4
#define INSTANCES 6

static void put_all(struct ctx *c, const struct row_table *t, void *rows, size_t n, uint64_t seed)
{
	struct rng rng = {seed};

	for (size_t i = 0; i < n; i++) {
		void *row = (char *)rows + i * t->row_size;

		row_random(t, &rng, &c->a, row);
		*(rid *)row = (rid)i + 1;
		batch_put(&c->b, t, row);
	}
}

void test_service_round_trip(void **state)
{
	struct ctx *c = *state;
	struct service_row rows[SERVICES], later;
	struct start start;

	put_all(c, &service_table, rows, SERVICES, 61);
	commit(c);
	put_all(c, &service_table, rows, SERVICES, 62); /* replaced by id */
	commit(c);
	later = rows[1];
	later.deploy.state = 3;
	later.deploy.target = 17;
	later.tag = 99;
	later.name = STR("it is not written");
	batch_state(&c->b, &service_table, &later);
	commit(c);
	start_read(c, &start);
	assert_int_equal(start.n_services, SERVICES);
	rows[1].deploy.state = 3;
	rows[1].deploy.target = 17;
	rows[1].tag = 99;
	for (size_t i = 0; i < SERVICES; i++)
		assert_same_row(&service_table, &rows[i], &start.services[i]);
}

void test_domain_round_trip(void **state)
{
	struct ctx *c = *state;
	struct domain_row rows[SERVICES];
	struct start start;

	put_all(c, &domain_table, rows, SERVICES, 63);
	commit(c);
	batch_delete(&c->b, &domain_table, rows[SERVICES - 1].id);
	commit(c);
	start_read(c, &start);
	assert_int_equal(start.n_domains, SERVICES - 1);
	for (size_t i = 0; i < SERVICES - 1; i++)
		assert_same_row(&domain_table, &rows[i], &start.domains[i]);
}

/* By service, index and presence; a start is told of them in that order. */
static void put_instances(struct ctx *c, struct instance_row *rows, uint64_t seed)
{
	struct rng rng = {seed};

	for (int i = 0; i < INSTANCES; i++) {
		row_random(&instance_table, &rng, &c->a, &rows[i]);
		rows[i].service = 1 + (rid)i / 3;
		rows[i].index = i % 3 / 2;
		rows[i].presence = i % 3 % 2;
		batch_put(&c->b, &instance_table, &rows[i]);
	}
}

static void assert_instances(struct ctx *c, const struct instance_row *rows, size_t n)
{
	struct start start;

	start_read(c, &start);
	assert_int_equal(start.n_instances, n);
	for (size_t i = 0; i < n; i++)
		assert_same_row(&instance_table, &rows[i], &start.instances[i]);
}

void test_instances(void **state)
{
	struct ctx *c = *state;
	struct service_row services[SERVICES];
	struct instance_row rows[INSTANCES], key = {.service = 2, .index = 0, .presence = 1};

	put_all(c, &service_table, services, SERVICES, 64);
	put_instances(c, rows, 65);
	commit(c);
	put_instances(c, rows, 66);
	commit(c);
	assert_instances(c, rows, INSTANCES);
	/* one alone goes; and what is dropped and comes again in one commit is there */
	batch_drop(&c->b, &instance_table, &key);
	batch_drop(&c->b, &instance_table, &rows[5]);
	batch_put(&c->b, &instance_table, &rows[5]);
	commit(c);
	rows[4] = rows[5];
	assert_instances(c, rows, INSTANCES - 1);
	batch_drop(&c->b, &instance_table, &key); /* there is none any more */
	batch_delete(&c->b, &service_table, 2);
	commit(c);
	assert_instances(c, rows, 3);
}

void test_revisions(void **state)
{
	struct ctx *c = *state;
	struct service_row services[SERVICES];
	struct revision_row rows[INSTANCES], key = {.service = 1, .number = 2};
	struct rng rng = {67};
	struct part_query q = {
	    .table = &revision_table, .object = 1, .oldest_first = true, .limit = 10};
	struct part_page page;
	struct start start;

	put_all(c, &service_table, services, SERVICES, 68);
	for (int i = 0; i < INSTANCES; i++) {
		row_random(&revision_table, &rng, &c->a, &rows[i]);
		rows[i].service = 1;
		rows[i].number = i + 1;
		batch_put(&c->b, &revision_table, &rows[i]);
	}
	commit(c);
	start_read(c, &start);
	assert_int_equal(start.n_revisions, INSTANCES);
	for (int i = 0; i < INSTANCES; i++)
		assert_same_row(&revision_table, &rows[i], &start.revisions[i]);
	batch_drop(&c->b, &revision_table, &key);
	commit(c);
	assert_int_equal(store_parts(c->r, &q, &c->a, &page), 0);
	assert_int_equal(page.n, INSTANCES - 1);
	assert_same_row(&revision_table, &rows[0], page.rows);
	assert_same_row(&revision_table, &rows[2], &((struct revision_row *)page.rows)[1]);
}
