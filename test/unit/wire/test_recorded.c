/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker, a server and a keeper of the version before must understand the present ones. Frames
 * that were written once are kept in recorded.txt, one line each: its name and its bytes. Every
 * member of every message stands in one of them, with a value that no other member has. The
 * encoder must still write the very same bytes; what the decoder makes of them, encoded again,
 * must be the same bytes too, so no two members can have changed their places.
 *
 * Lines of recorded.txt are added and never changed: a changed line is a changed protocol.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "model/limits.h"
#include "model/objects/queue.h"
#include "wire/link/keeper.h"
#include "wire/link/link.h"

static struct arena arena;
static struct buf bytes, again;
static const char *path; /* of recorded.txt */

/* The line's bytes, as text; NULL: it was never recorded. */
static char *recorded(const char *name)
{
	FILE *f = fopen(path, "re");
	char *line = NULL, *found = NULL;
	size_t room = 0, n = strlen(name);

	assert_non_null(f);
	while (!found && getline(&line, &room, f) > 0)
		if (strncmp(line, name, n) == 0 && line[n] == ' ') {
			line[strcspn(line, "\n")] = 0;
			found = xstrdup(line + n + 1);
		}
	free(line);
	fclose(f);
	return found;
}

static void assert_recorded(const char *name, struct str got)
{
	AUTO(free_cstr) char *want = recorded(name);
	struct buf text = {0};

	for (size_t i = 0; i < got.n; i++)
		buf_printf(&text, "%02x", (unsigned char)got.p[i]);
	if (!want || strcmp(want, text.p) != 0)
		print_error("%s: recorded.txt has another line, or none. This is\n%s %s\n", name,
		    name, text.p);
	assert_non_null(want);
	assert_string_equal(text.p, want);
	buf_release(&text);
}

static void to_server(const char *name, const struct link_to_server *m)
{
	struct link_to_server got;

	buf_reset(&bytes);
	buf_reset(&again);
	link_encode_to_server(m, &arena, &bytes);
	assert_recorded(name, buf_str(&bytes));
	assert_int_equal(link_decode_to_server(buf_str(&bytes), &arena, &got, NULL), 0);
	link_encode_to_server(&got, &arena, &again);
	assert_true(str_eq(buf_str(&bytes), buf_str(&again)));
}

static void to_worker(const char *name, const struct link_to_worker *m)
{
	struct link_to_worker got;

	buf_reset(&bytes);
	buf_reset(&again);
	link_encode_to_worker(m, &arena, &bytes);
	assert_recorded(name, buf_str(&bytes));
	assert_int_equal(link_decode_to_worker(buf_str(&bytes), &arena, &got, NULL), 0);
	link_encode_to_worker(&got, &arena, &again);
	assert_true(str_eq(buf_str(&bytes), buf_str(&again)));
}

static void to_keeper(const char *name, struct to_keeper m)
{
	struct to_keeper got;

	buf_reset(&bytes);
	buf_reset(&again);
	to_keeper_encode(&m, &arena, &bytes);
	assert_recorded(name, buf_str(&bytes));
	assert_int_equal(to_keeper_decode(buf_str(&bytes), &arena, &got, NULL), 0);
	to_keeper_encode(&got, &arena, &again);
	assert_true(str_eq(buf_str(&bytes), buf_str(&again)));
}

static void from_keeper(const char *name, struct from_keeper m)
{
	struct from_keeper got;

	buf_reset(&bytes);
	buf_reset(&again);
	from_keeper_encode(&m, &arena, &bytes);
	assert_recorded(name, buf_str(&bytes));
	assert_int_equal(from_keeper_decode(buf_str(&bytes), &arena, &got, NULL), 0);
	from_keeper_encode(&got, &arena, &again);
	assert_true(str_eq(buf_str(&bytes), buf_str(&again)));
}

#define RECEIPT "sixteen bytes  "

static struct set_id a_set(uint64_t from)
{
	return (struct set_id){from, from + 1, {from + 2, from + 3, (uint32_t)from + 4}};
}

static void test_knock(void **state)
{
	static const char key[] = "the public half of a worker's key";
	static const char signature[] =
	    "its signature, of the challenge, the instance and the worker's name";
	struct link_knock full = {LINK_PROTOCOL, STR("join-me"), STR("w1"), 0x1122334455667788,
	    {key, LINK_KEY_BYTES}, {signature, LINK_SIGNATURE_BYTES}};
	struct link_knock bare = full;

	bare.join_token = STR_NULL;
	to_server("knock", &(struct link_to_server){.knock = &full, .clock = STR("a clock")});
	to_server("knock.bare", &(struct link_to_server){.knock = &bare});
}

static void test_hello(void **state)
{
	struct link_held tasks[] = {{11, 12, false, 0}, {13, 14, true, 15, .receipt = {RECEIPT}}};
	struct link_hello full = {.protocol = LINK_PROTOCOL,
	    .facts = {.shard = STR("w1"),
	        .instance = 0x1122334455667788,
	        .started_ms = 21,
	        .start = 22,
	        .lock = STR("machine:/var/lib/reeve"),
	        .host = STR("host"),
	        .zone = STR("zone"),
	        .target = STR("target"),
	        .version = STR("version"),
	        .labels = STR("a=1\nb=2\n"),
	        .plugins = STR("command\nnoop\n"),
	        .active_queues = STR("active1\nactive2\n"),
	        .ignore_queues = STR("ignored1\nignored2\n"),
	        .maxthreads = 23},
	    .tasks = tasks,
	    .n_tasks = 2,
	    .set = a_set(31),
	    .dial = 24};
	struct link_hello bare = {.protocol = LINK_PROTOCOL,
	    .facts = {.shard = STR("w2"),
	        .instance = 1,
	        .start = 1,
	        .lock = STR("machine:/elsewhere"),
	        .maxthreads = -1},
	    .dial = 1,
	    .drops_receipts = true};

	to_server("hello", &(struct link_to_server){.hello = &full});
	bare.takes_input = true;
	to_server("hello.inputs", &(struct link_to_server){.hello = &bare});
	bare.takes_input = false;
	bare.takes_needs = true;
	to_server("hello.needs", &(struct link_to_server){.hello = &bare});
	bare.takes_needs = false;
	full.facts.offer = STR("cpu=8000\ngpu=25\nmemory=26\n");
	to_server("hello.offer", &(struct link_to_server){.hello = &full});
	to_server("hello.bare", &(struct link_to_server){.hello = &bare});
}

static struct link_instance an_instance(void)
{
	return (struct link_instance){.service = STR("web"),
	    .domain = STR("shop"),
	    .index = 401,
	    .revision = 402,
	    .need = STR("instances=403\nports=404\n")};
}

static struct link_fares some_fares(void)
{
	return (struct link_fares){.container = 2,
	    .is_up = true,
	    .is_ready = true,
	    .address = STR("10.0.0.7"),
	    .ports = STR("405\n406\n")};
}

static void test_instances(void **state)
{
	struct link_held tasks[] = {{.task = 411,
	                                .token = 412,
	                                .instance = an_instance(),
	                                .queue = STR("services"),
	                                .fares = some_fares()},
	    {.task = 413, .token = 414, .instance = {.service = STR("bare")}}};
	struct link_hello hello = {.protocol = LINK_PROTOCOL,
	    .facts = {.shard = STR("w3"),
	        .instance = 1,
	        .start = 1,
	        .lock = STR("machine:/here"),
	        .maxthreads = -1},
	    .tasks = tasks,
	    .n_tasks = 2,
	    .dial = 1,
	    .takes_services = true};
	struct link_health health[] = {{421, 422, some_fares()}, {423, 424, {.is_up = true}}};
	struct link_run run = {.task = 431,
	    .token = 432,
	    .attempt = 1,
	    .queue = STR("q"),
	    .plugin = STR("command"),
	    .body = STR("{}"),
	    .number = 433,
	    .instance = an_instance(),
	    .n_ports = 34};

	to_server("hello.instances", &(struct link_to_server){.hello = &hello});
	to_server("health", &(struct link_to_server){.health = health, .n_health = 2});
	to_worker("run.instance", &(struct link_to_worker){.run = &run, .n_run = 1});
}

static void test_health(void **state)
{
	struct link_checked checked[] = {{41, true, STR_NULL}, {42, false, STR("fork: no")}};
	struct link_held held[] = {{51, 52, false, 53, .receipt = {RECEIPT}}, {54, 55, true, 0}};
	struct link_held absent[] = {{56, 57, false, 0}};
	struct link_notified notified[] = {{58, held, absent, 2, 1}, {59, NULL, NULL, 0, 0}};

	to_server("beat", &(struct link_to_server){
	                      .has_beat = true, .beat = {61, true, WORKER_UNHEALTHY, a_set(62)}});
	to_server("beat.bare",
	    &(struct link_to_server){.has_beat = true, .beat = {.number = 1, .own = WORKER_NEW}});
	to_server("checked", &(struct link_to_server){.checked = checked, .n_checked = 2});
	to_server("notified", &(struct link_to_server){.notified = notified, .n_notified = 2});
}

static void test_reports(void **state)
{
	struct link_started started[] = {{71, 72, 73, 74}, {75, 76, 77, 0}};
	struct output_row output[] = {{81, 82, STDERR, OUTPUT_CHUNK_BYTES, 4, 0, {"\0\1\2\3", 4}},
	    {83, 84, STDOUT, 0, 40, 1, /* forty times x */
	        {"\x28\xb5\x2f\xfd\x00\x48\x45\x00\x00\x10xx\x01\x00\x1f\x80\x05", 17}}};
	struct link_ended ended[] = {
	    {.task = 91,
	        .token = 92,
	        .status = TASK_FAILED,
	        .exit_code = 93,
	        .signal = 9,
	        .reason = STR("exit code 93"),
	        .started_ms = 94,
	        .ended_ms = 95,
	        .killed = true,
	        .output_where = OUTPUT_INLINE,
	        .output = {{"out\0", 4}, {"err", 3}},
	        .output_bytes = {96, 97},
	        .output_dropped = {98, 99},
	        .usage = {101, 102, 103, 104, true},
	        .result = {"r\0\n", 3}},
	    {.task = 111,
	        .token = 112,
	        .status = TASK_TERMINATED,
	        .exit_code = -1,
	        .ended_ms = 113,
	        .permanent = true,
	        .output_where = OUTPUT_CHUNKS,
	        .output_bytes = {114, 0}},
	    {.task = 121, .token = 122, .status = TASK_SUCCEEDED, .ended_ms = 123},
	};

	struct link_input_ack input[] = {{311, 312, 0}, {313, 314, 315}};

	to_server("started", &(struct link_to_server){.started = started, .n_started = 2});
	to_server("output", &(struct link_to_server){.output = output, .n_output = 2});
	to_server("input_ack", &(struct link_to_server){.input_ack = input, .n_input_ack = 2});
	to_server("ended", &(struct link_to_server){.ended = ended, .n_ended = 3});
}

static void test_answers(void **state)
{
	static const char nonce[LINK_NONCE_BYTES + 1] = "thirty-two bytes of fresh random";
	struct link_welcome full = {.worker = 131,
	    .ids = {{1, 2, 3, 4, 5}},
	    .server = 132,
	    .timeouts = {133, 134, 135, 136, 137, 138, 139},
	    .news = {WORKER_HEALTHY, a_set(141), 142},
	    .notify_seq = 143,
	    .maxthreads = 144};
	struct link_welcome bare = {.worker = 1,
	    .server = 1,
	    .timeouts = {1, 0, 1, 0, 1, 0, 0},
	    .news = {.state = WORKER_NEW},
	    .maxthreads = -1};
	struct link_refused refused = {STR("another has its name"), true, false};
	struct link_refused restart = {STR("start anew"), false, true};

	to_worker("challenge", &(struct link_to_worker){.challenge = {nonce, LINK_NONCE_BYTES},
	                           .clock = STR("a clock")});
	to_worker("welcome", &(struct link_to_worker){.welcome = &full});
	to_worker("welcome.bare", &(struct link_to_worker){.welcome = &bare});
	to_worker("refused.die", &(struct link_to_worker){.refused = &refused});
	to_worker("refused.restart", &(struct link_to_worker){.refused = &restart});
	to_worker("settings.leave",
	    &(struct link_to_worker){.has_settings = true, .settings = {151, true, false}});
	to_worker("settings.restart",
	    &(struct link_to_worker){.has_settings = true, .settings = {-1, false, true}});
	to_worker("beat_ack", &(struct link_to_worker){.has_beat_ack = true,
	                          .beat_ack = {161, {WORKER_UNHEALTHY, a_set(162), 163}}});
	to_worker("news", &(struct link_to_worker){
	                      .has_beat_ack = true, .beat_ack = {0, {.state = WORKER_MUST_DIE}}});
}

static void test_orders(void **state)
{
	struct link_run run[] = {{171, 172, 173, 174, STR("queue"), STR("plugin"),
	                             STR("{\"body\":1}"), STR("{\"env\":2}"), STR("{\"run\":3}"),
	                             175, 176, OUTPUT_MODE_CHUNKS, true, 177, 178, {RECEIPT}},
	    {.task = 181,
	        .token = 182,
	        .attempt = 1,
	        .queue = STR("q"),
	        .plugin = STR("command"),
	        .body = STR("{}"),
	        .number = 183}};
	struct link_kill kill[] = {{191, 192, STR("cancelled"), false}, {193, 194, STR_NULL, true}};
	struct link_follow follow[] = {{227, 228, 10000}, {229, 230, 0}};
	struct run_ref ended[] = {{201, 202}, {203, 204}};
	struct link_output_ack output[] = {
	    {211, 212, STDERR, 213, false}, {214, 215, STDOUT, 216, true}};
	struct run_ref refs[] = {{221, 222}, {223, 224}};
	struct link_notify notify[] = {{225, refs, 2}, {226, NULL, 0}};

	struct link_run streamed = {.task = 301,
	    .token = 302,
	    .attempt = 1,
	    .queue = STR("q"),
	    .plugin = STR("command"),
	    .body = STR("{}"),
	    .number = 303,
	    .is_streamed = true};
	struct link_input input[] = {
	    {304, 305, 306, {"a\0b", 3}, false}, {307, 308, 309, STR_NULL, true}};

	struct link_need needs[] = {{.task = 311,
	                                .job = STR("fetch"),
	                                .state = STR("built"),
	                                .worker = STR("w1"),
	                                .attempt = 312,
	                                .exit_code = 0,
	                                .started_ms = 313,
	                                .ended_ms = 314,
	                                .reason = STR("skipped"),
	                                .result = {"{\0}", 3}},
	    {.task = 315,
	        .state = STR("job-failed"),
	        .exit_code = -1,
	        .signal = 9,
	        .is_cut = true}};
	struct link_run shown = streamed;

	shown.is_streamed = false;
	shown.needs = needs;
	shown.n_needs = 2;
	shown.needs_left_out = 316;
	to_worker("run.needs", &(struct link_to_worker){.run = &shown, .n_run = 1});
	to_worker("run", &(struct link_to_worker){.run = run, .n_run = 2});
	to_worker("run.streamed", &(struct link_to_worker){.run = &streamed, .n_run = 1});
	to_worker("input", &(struct link_to_worker){.input = input, .n_input = 2});
	to_worker("kill", &(struct link_to_worker){.kill = kill, .n_kill = 2});
	to_worker("follow", &(struct link_to_worker){.follow = follow, .n_follow = 2});
	to_worker("ended_ack", &(struct link_to_worker){.ended_ack = ended, .n_ended_ack = 2});
	to_worker("output_ack", &(struct link_to_worker){.output_ack = output, .n_output_ack = 2});
	to_worker("notify", &(struct link_to_worker){.notify = notify, .n_notify = 2});
	to_worker("check", &(struct link_to_worker){.has_check = true, .check = {231, 232}});
	to_worker("check.bare", &(struct link_to_worker){.has_check = true, .check = {1, 0}});
}

static void test_keeper_open(void **state)
{
	static const uint32_t groups[] = {241, 242};
	const struct keeper_identity users[] = {
	    {STR("alice"), 243, 244, groups, 2}, {STR("bob"), 245, 246, NULL, 0}};
	const struct keeper_identity group = {STR("staff"), 0, 247, NULL, 0};
	struct keeper_open full = {.version = KEEPER_VERSION,
	    .lock = STR("machine:/dir"),
	    .socket = STR("/dir/keeper.sock"),
	    .use_cgroups = true,
	    .term_wait_ms = 251,
	    .capabilities = 252,
	    .worker_uid = 253,
	    .users = users,
	    .groups = &group,
	    .n_users = 2,
	    .n_groups = 1,
	    .instance = 254,
	    .start = 255};
	struct keeper_open adopt = {.version = KEEPER_VERSION, .lock = STR(""), .adopt = true};
	struct keeper_open keep = {.version = KEEPER_VERSION, .lock = STR(""), .keep = true};
	struct keeper_opened opened = {KEEPER_VERSION, 261, 262, STR("a problem"),
	    STR("no cgroups"), STR("by limits"), 263, 264};

	to_keeper("keeper.open", (struct to_keeper){.open = &full});
	to_keeper("keeper.adopt", (struct to_keeper){.open = &adopt});
	to_keeper("keeper.keep", (struct to_keeper){.open = &keep});
	from_keeper("keeper.opened", (struct from_keeper){.opened = &opened});
}

static void test_keeper_start(void **state)
{
	static const char *const argv[] = {"a", "", "b\xff", NULL}, *const env[] = {"K=v", NULL};
	static const char *const none[] = {NULL};
	const struct str groups[] = {STR("g1"), STR("g2")};
	const struct program_limit rlimits[] = {{4, 271}, {7, UINT64_MAX}};
	struct keeper_start full = {.id = 272,
	    .program.argv = argv,
	    .program.env = env,
	    .program.cwd = "/x",
	    .program.umask = 027,
	    .program.set_nice = true,
	    .program.nice = -3,
	    .input = KEEPER_STDIN_PIPE,
	    .n_fds = 2,
	    .program.same_group = true,
	    .has_capabilities = true,
	    .capabilities = UINT64_C(1) << 40,
	    .program.death_signal = 15,
	    .user = STR("u"),
	    .group = STR("g"),
	    .groups = groups,
	    .n_groups = 2,
	    .limits = {.memory = 273, .cpu_milli = 274, .pids = 275, .policy = LIMIT_WARN},
	    .program.limits = rlimits,
	    .program.n_limits = 2,
	    .term_to = KILL_TO_CHILD,
	    .note = {"n\0te", 4},
	    .result_file = "/r",
	    .sandboxed = true};
	struct keeper_start bare = {.id = 281, .program.argv = argv + 2, .program.env = none};

	to_keeper("keeper.start", (struct to_keeper){.start = &full});
	to_keeper("keeper.start.bare", (struct to_keeper){.start = &bare});
	bare.input = KEEPER_STDIN_FD;
	bare.new_privs = true;
	to_keeper("keeper.start.new_privs", (struct to_keeper){.start = &bare});
	bare.kept = true;
	bare.new_privs = false;
	bare.limits.pids = 282;
	to_keeper("keeper.start.kept", (struct to_keeper){.start = &bare});
	bare.kept = false;
	bare.program.same_group = true;
	to_keeper("keeper.start.same_group", (struct to_keeper){.start = &bare});
}

static void test_keeper_orders(void **state)
{
	struct keeper_signal s = {291, 15, KILL_TO_GROUP};

	to_keeper("keeper.signal", (struct to_keeper){.signal = &s});
	to_keeper("keeper.release", (struct to_keeper){.release = 292});
	to_keeper("keeper.mark", (struct to_keeper){.mark = &(struct keeper_mark){441, 442}});
	to_keeper("keeper.hold", (struct to_keeper){.hold = 293, .hold_note = STR("note")});
	to_keeper("keeper.deadline", (struct to_keeper){.has_deadline = true, .deadline_ms = 294});
	to_keeper("keeper.frozen", (struct to_keeper){.has_frozen = true, .frozen = true});
	to_keeper("keeper.thawed", (struct to_keeper){.has_frozen = true});
	to_keeper("keeper.leave", (struct to_keeper){.leave = true});
	to_keeper("keeper.ping", (struct to_keeper){.ping = 295});
}

static void test_keeper_reports(void **state)
{
	struct keeper_started started = {301, 302, STR("a warning")};
	struct keeper_not_started not_started = {303, 127, STR("no such program")};
	struct keeper_over over = {304, 305, 6, {307, 308, 309, 310, true}};
	struct keeper_over killed = {311, -1, 9, {.known = true}};
	struct keeper_kept kept = {312, STR("note"), 313, 314, 315, &killed, 4, true};
	struct keeper_kept runs = {.id = 316, .pid = 317};

	from_keeper("keeper.started", (struct from_keeper){.started = &started});
	from_keeper("keeper.not_started", (struct from_keeper){.not_started = &not_started});
	from_keeper("keeper.over", (struct from_keeper){.over = &over});
	from_keeper("keeper.kept", (struct from_keeper){.kept = &kept});
	from_keeper("keeper.kept.runs", (struct from_keeper){.kept = &runs});
	runs.mark = 318;
	from_keeper("keeper.kept.mark", (struct from_keeper){.kept = &runs});
	from_keeper("keeper.all_kept", (struct from_keeper){.all_kept = true});
	from_keeper("keeper.froze", (struct from_keeper){.froze = true});
	from_keeper("keeper.pong", (struct from_keeper){.pong = 321});
}

static int teardown(void **state)
{
	arena_release(&arena);
	buf_release(&bytes);
	buf_release(&again);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_knock),
	    cmocka_unit_test(test_hello),
	    cmocka_unit_test(test_instances),
	    cmocka_unit_test(test_health),
	    cmocka_unit_test(test_reports),
	    cmocka_unit_test(test_answers),
	    cmocka_unit_test(test_orders),
	    cmocka_unit_test(test_keeper_open),
	    cmocka_unit_test(test_keeper_start),
	    cmocka_unit_test(test_keeper_orders),
	    cmocka_unit_test(test_keeper_reports),
	};

	path = argc > 1 ? argv[1] : "recorded.txt";
	return cmocka_run_group_tests(tests, NULL, teardown);
}
