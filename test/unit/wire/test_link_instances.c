/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of instances of services arrives whole, and nothing out of bounds gets through. */
#include "link_parts.h"

#include <string.h>

#include "model/limits.h"
#include "service/life/container.h"

static struct link_instance web(void)
{
	return (struct link_instance){.service = STR("web"),
	    .domain = STR("shop"),
	    .index = 7,
	    .revision = 12,
	    .need = STR("+zone=a\ninstances=1\nmemory=1024\n")};
}

static struct link_fares up(void)
{
	return (struct link_fares){.container = CONTAINER_RUNNING,
	    .is_up = true,
	    .is_ready = true,
	    .address = STR("10.0.0.7"),
	    .ports = STR("20000\n20001\n")};
}

static void assert_web(const struct link_instance *i)
{
	assert_str(i->service, "web");
	assert_str(i->domain, "shop");
	assert_str(i->need, "+zone=a\ninstances=1\nmemory=1024\n");
	assert_true(i->index == 7 && i->revision == 12);
}

static void assert_up(const struct link_fares *f)
{
	assert_int_equal(f->container, CONTAINER_RUNNING);
	assert_true(f->is_up && f->is_ready);
	assert_str(f->address, "10.0.0.7");
	assert_str(f->ports, "20000\n20001\n");
}

static void test_in_a_hello(void **state)
{
	struct link_held held[] = {
	    {.task = 1, .token = 2, .instance = web(), .queue = STR("q"), .fares = up()},
	    {.task = 3, .token = 4}};
	struct link_hello h = good_hello();
	struct link_to_server in = {.hello = &h}, got;

	h.tasks = held;
	h.n_tasks = 2;
	h.takes_services = true;
	assert_int_equal(to_server(&in, &got), 0);
	assert_true(got.hello->takes_services);
	assert_web(&got.hello->tasks[0].instance);
	assert_up(&got.hello->tasks[0].fares);
	assert_str(got.hello->tasks[0].queue, "q");
	assert_null(got.hello->tasks[1].instance.service.p);
	assert_null(got.hello->tasks[1].queue.p);
}

static void test_in_a_report(void **state)
{
	struct link_health health[] = {{1, 2, up()}, {3, 4, {0}}};
	struct link_to_server in = {.health = health, .n_health = 2}, got;

	assert_int_equal(to_server(&in, &got), 0);
	assert_int_equal(got.n_health, 2);
	assert_true(got.health[0].task == 1 && got.health[0].token == 2);
	assert_up(&got.health[0].fares);
	assert_null(got.health[1].fares.address.p);
	assert_null(got.health[1].fares.ports.p);
	assert_false(got.health[1].fares.is_up);
}

static void test_in_an_order(void **state)
{
	struct link_run run = {.task = 1,
	    .token = 2,
	    .attempt = 1,
	    .queue = STR("q"),
	    .plugin = STR("command"),
	    .body = STR("{}"),
	    .number = 1,
	    .n_ports = 3,
	    .instance = web()};
	struct link_to_worker in = {.run = &run, .n_run = 1}, got;

	assert_int_equal(to_worker(&in, &got), 0);
	assert_int_equal(got.run[0].n_ports, 3);
	assert_web(&got.run[0].instance);
	run.instance = (struct link_instance){0};
	assert_int_equal(to_worker(&in, &got), 0);
	assert_null(got.run[0].instance.service.p);
	run.n_ports = PORTS_MAX + 1;
	assert_int_equal(to_worker(&in, &got), ERR_PROTOCOL);
}

#define BAD_FARES(change)                                             \
	do {                                                          \
		health.fares = up();                                  \
		change;                                               \
		assert_int_equal(to_server(&in, &got), ERR_PROTOCOL); \
	} while (0)

static void test_bad_reports(void **state)
{
	static char name[300];
	struct buf ports = {0};
	struct link_health health = {1, 2, up()};
	struct link_to_server in = {.health = &health, .n_health = 1}, got;

	memset(name, 'x', sizeof name);
	for (int i = 0; i <= PORTS_MAX; i++)
		buf_add_cstr(&ports, "1\n");
	assert_int_equal(to_server(&in, &got), 0);
	BAD_FARES(health.fares.container = N_CONTAINER_STATES);
	BAD_FARES(health.fares.container = -1);
	BAD_FARES(health.fares.is_up = false); /* ready and not up */
	BAD_FARES(health.fares.address = ((struct str){name, sizeof name}));
	BAD_FARES(health.fares.address = STR("a\nb"));
	BAD_FARES(health.fares.ports = buf_str(&ports));
	health.fares = up();
	health.token = 0;
	assert_int_equal(to_server(&in, &got), ERR_PROTOCOL);
	buf_release(&ports);
}

#define BAD_INSTANCE(change)                                          \
	do {                                                          \
		held.instance = web();                                \
		change;                                               \
		assert_int_equal(to_server(&in, &got), ERR_PROTOCOL); \
	} while (0)

static void test_bad_instances(void **state)
{
	static char name[600];
	struct link_held held = {.task = 1, .token = 2, .instance = web(), .queue = STR("q")};
	struct link_hello h = good_hello();
	struct link_to_server in = {.hello = &h}, got;
	struct buf many = {0};

	h.tasks = &held;
	h.n_tasks = 1;
	memset(name, 'x', sizeof name - 1);
	for (int i = 0; i < 257; i++)
		buf_add_cstr(&many, "a=1\n");
	assert_int_equal(to_server(&in, &got), 0);
	BAD_INSTANCE(held.instance.service = STR(""));
	BAD_INSTANCE(held.instance.service = ((struct str){name, NAME_MAX_BYTES + 1}));
	BAD_INSTANCE(held.instance.domain = STR("a\tb"));
	BAD_INSTANCE(held.instance.index = UINT32_MAX);
	BAD_INSTANCE(held.instance.revision = -1);
	BAD_INSTANCE(held.instance.need = buf_str(&many));
	BAD_INSTANCE(held.instance.need = str_of(name));
	held.instance = web();
	held.queue = STR("a\nb");
	assert_int_equal(to_server(&in, &got), ERR_PROTOCOL);
	buf_release(&many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_in_a_hello, setup),
	    cmocka_unit_test_setup(test_in_a_report, setup),
	    cmocka_unit_test_setup(test_in_an_order, setup),
	    cmocka_unit_test_setup(test_bad_reports, setup),
	    cmocka_unit_test_setup(test_bad_instances, setup),
	};

	return cmocka_run_group_tests_name("link_instances", tests, NULL, teardown);
}
