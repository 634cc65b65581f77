/* SPDX-License-Identifier: Apache-2.0 */
/* Instances of services on a whole worker: what they are given, and how the server hears of them.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "fake_server.h"
#include "model/task/need.h"
#include "service/life/container.h"

/* The instance listens at its second port, then says what it was given. */
#define SERVE                                                                                    \
	"python3 -c 'import socket,os,time; s=socket.create_server((\\\"127.0.0.1\\\","          \
	"int(os.environ[\\\"PORT1\\\"]))); os.system(\\\"echo $PORT $PORT0 $PORT1 $REEVE_PORTS " \
	"$REEVE_SERVICE/$REEVE_INSTANCE/$REEVE_REVISION $REEVE_ADDRESS\\\"); time.sleep(1000)'"
#define UP_BY_TCP \
	"\"checks\":{\"startup\":{\"tcp\":\"$PORT1\",\"interval\":\"100ms\",\"timeout\":\"5s\"}"

static struct fake f;

static int setup(void **state)
{
	fake_open(&f);
	return 0;
}

static int teardown(void **state)
{
	fake_close(&f);
	return 0;
}

static void start_with(struct worker_options o)
{
	o.term_wait_ms = 300;
	o.instances = 250;
	f.n_hellos = f.n_checked = 0;
	fake_worker(&f, o);
	fake_until(&f, has_hellos, 1);
	fake_until(&f, has_checked, 1);
	fake_until(&f, is_in_state, WORKER_HEALTHY);
}

static void stop_worker(int signal)
{
	kill(f.worker, signal);
	while (f.link)
		loop_run(f.loop);
	assert_int_equal(fake_wait_worker(&f), 0);
}

static void start_web(rid task, const char *script, const char *checks, uint32_t n_ports)
{
	char *body =
	    xasprintf("{\"command\":[\"sh\",\"-c\",\"exec %s\"],\"run\":{%s}}", script, checks);

	fake_run(&f, (struct link_run){.task = task,
	                 .body = str_of(body),
	                 .n_ports = n_ports,
	                 .instance = {.service = STR("web"),
	                     .domain = STR("shop"),
	                     .index = (uint32_t)task,
	                     .revision = 9,
	                     .need = STR("instances=1\n")}});
	free(body);
}

static bool is_up(struct fake *x, long task)
{
	struct link_fares *fares = fake_fares(x, (rid)task);

	return fares && fares->is_up;
}

static bool is_unready(struct fake *x, long task)
{
	struct link_fares *fares = fake_fares(x, (rid)task);

	return fares && !fares->is_ready;
}

static bool is_ready(struct fake *x, long task)
{
	struct link_fares *fares = fake_fares(x, (rid)task);

	return fares && fares->is_ready;
}

static void test_what_it_is_given(void **state)
{
	struct link_fares *one;
	char want[256];
	int port, other;

	start_with((struct worker_options){.ports = "21000-21499"});
	assert_true(f.hello->takes_services);
	assert_int_equal(amount_of(f.hello->facts.offer, STR("instances")), 250);
	assert_int_equal(amount_of(f.hello->facts.offer, STR("ports")), 500);
	start_web(5, SERVE, UP_BY_TCP "}", 2);
	fake_until(&f, is_up, 5);
	one = fake_fares(&f, 5);
	assert_true(one->is_ready && one->container == CONTAINER_RUNNING);
	assert_true(str_is(one->address, "127.0.0.1"));
	assert_int_equal(sscanf(one->ports.p, "%d\n%d\n", &port, &other), 2);
	assert_true(port >= 21000 && port < other && other < 21500);
	fake_until(&f, has_output, 20);
	snprintf(want, sizeof want, "%d %d %d %d,%d web/5/9 127.0.0.1\n", port, port, other, port,
	    other);
	assert_int_equal(f.output[STDOUT].n, strlen(want));
	assert_memory_equal(f.output[STDOUT].p, want, strlen(want));
	start_web(6, "sleep 1000", "", 2);
	fake_until(&f, is_ready, 6); /* nothing to wait for */
	assert_false(str_eq(fake_fares(&f, 6)->ports, fake_fares(&f, 5)->ports));
	stop_worker(SIGTERM);
}

static void test_it_comes_and_goes(void **state)
{
	char *file = xasprintf("%s/well", f.state_dir), *checks;

	checks = xasprintf("\"checks\":{\"readiness\":{\"command\":[\"test\",\"-e\",\"%s\"],"
	                   "\"interval\":\"100ms\",\"timeout\":\"5s\"}}",
	    file);
	start_with((struct worker_options){.address = "web.example"});
	start_web(7, "sleep 1000", checks, 0);
	fake_until(&f, is_up, 7);
	assert_false(fake_fares(&f, 7)->is_ready);
	assert_true(str_is(fake_fares(&f, 7)->address, "web.example"));
	fclose(fopen(file, "we"));
	fake_until(&f, is_ready, 7);
	remove(file);
	fake_until(&f, is_unready, 7);
	fclose(fopen(file, "we"));
	fake_until(&f, is_ready, 7);
	fake_kill(&f, 7, 1, false);
	fake_until(&f, is_unready, 7); /* before its end */
	fake_until(&f, has_ends, 1);
	stop_worker(SIGTERM);
	free(file);
	free(checks);
}

static void test_in_every_hello(void **state)
{
	const struct link_held *h;

	start_with((struct worker_options){.ports = "21500-21999"});
	start_web(5, "sleep 1000", "", 1);
	fake_until(&f, is_ready, 5);
	fake_drop_link(&f);
	fake_until(&f, has_hellos, 2);
	assert_int_equal(f.hello->n_tasks, 1);
	h = f.hello->tasks;
	assert_true(str_is(h->instance.service, "web") && str_is(h->instance.domain, "shop"));
	assert_true(h->instance.index == 5 && h->instance.revision == 9);
	assert_true(str_is(h->instance.need, "instances=1\n") && str_is(h->queue, "q"));
	assert_true(h->fares.is_ready && str_eq(h->fares.ports, fake_fares(&f, 5)->ports));
	stop_worker(SIGTERM);
}

static void test_where_no_ports_are(void **state)
{
	struct link_ended *e;

	start_with((struct worker_options){.ports = "21500-21500"});
	start_web(5, "sleep 1000", "", 2);
	fake_until(&f, has_ends, 1);
	e = fake_end(&f, 5);
	assert_int_equal(e->started_ms, 0); /* another worker may have them */
	assert_true(str_is(e->reason, "no 2 free ports in worker.ports (21500-21500)"));
	start_web(6, "sleep 1000", "\"check\":{\"tcp\":\"$PORT1\"}", 1);
	fake_until(&f, has_ends, 2);
	e = fake_end(&f, 6);
	assert_int_equal(e->exit_code, 126);
	assert_true(str_is(e->reason, "a check wants the port $PORT1, and so many were given: 1"));
	start_web(7, "sleep 1000", "", 1); /* it was given back */
	fake_until(&f, is_ready, 7);
	stop_worker(SIGTERM);
}

/* The next worker knows it: its ports, whose it is, and that it was ready, without another look. */
static void test_it_outlives_its_worker(void **state)
{
	struct worker_options o = {.ports = "22000-22001", .keep_tasks = true};
	char *checks = xstrdup("\"checks\":{\"startup\":{\"tcp\":\"$PORT\",\"interval\":\"100ms\","
	                       "\"timeout\":\"5s\",\"start_timeout\":\"20s\"}}");
	struct str ports;

	start_with(o);
	start_web(5, "python3 -m http.server --bind 127.0.0.1 $PORT", checks, 1);
	fake_until(&f, is_ready, 5);
	ports = fake_fares(&f, 5)->ports;
	kill(f.worker, SIGKILL);
	while (f.link)
		loop_run(f.loop);
	assert_int_equal(fake_wait_worker(&f), -SIGKILL);
	start_with(o);
	assert_int_equal(f.hello->n_tasks, 1);
	assert_true(f.hello->tasks[0].fares.is_ready && f.hello->tasks[0].fares.is_up);
	assert_true(str_eq(f.hello->tasks[0].fares.ports, ports));
	assert_true(str_is(f.hello->tasks[0].instance.service, "web"));
	start_web(6, "sleep 1000", "", 1);
	fake_until(&f, is_ready, 6);
	assert_false(str_eq(fake_fares(&f, 6)->ports, ports));
	start_web(7, "sleep 1000", "", 1);
	fake_until(&f, has_ends, 1);
	assert_int_equal(fake_end(&f, 7)->started_ms, 0);
	stop_worker(SIGQUIT);
	free(checks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	    T(test_what_it_is_given),
	    T(test_it_comes_and_goes),
	    T(test_in_every_hello),
	    T(test_where_no_ports_are),
	    T(test_it_outlives_its_worker),
	};

	return cmocka_run_group_tests_name("worker-instances", tests, NULL, NULL);
}
