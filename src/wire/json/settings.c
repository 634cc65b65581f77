/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/json/settings.h"

#include <string.h>

#include "model/limits.h"
#include "wire/json/checks.h"
#include "wire/json/fields.h"

#define GROUPS_MOST 64
#define PIDS_MOST (4 << 20)
#define CPUS_MOST 100000
#define OPEN_FILES_MOST (1 << 30)

_Static_assert(
    offsetof(struct run_settings, n_groups) ==
            offsetof(struct run_settings, groups) + offsetof(struct field_list, n) &&
        offsetof(struct run_settings, n_capabilities) ==
            offsetof(struct run_settings, capabilities) + offsetof(struct field_list, n) &&
        offsetof(struct run_sandbox, n_writable) ==
            offsetof(struct run_sandbox, writable) + offsetof(struct field_list, n) &&
        offsetof(struct run_sandbox, n_readable) ==
            offsetof(struct run_sandbox, readable) + offsetof(struct field_list, n),
    "a list's number lies behind it");

#define F(name, kind, member, text, ...) \
	FIELD(name, kind, run_settings, member, .about = text __VA_OPT__(, ) __VA_ARGS__)
#define BETWEEN(least, most) .min = (least), .max = (most)
#define LIST(name, kind, member, text, most) \
	FIELD_LIST(name, kind, run_settings, member, most, .about = text)
#define OTHER(label, member, fn, ...)                                                       \
	{                                                                                   \
		.name = label, .kind = FIELD_OTHER,                                         \
		.offset = offsetof(struct run_settings, member),                            \
		.size = sizeof(((struct run_settings *)0)->member), .read = fn, __VA_ARGS__ \
	}
#define TYPE(json) .schema = "{\"type\":" json "}"
#define CHOICE(label, member, text, texts)                   \
	F(label, FIELD_CHOICE, member, text, .names = texts, \
	    .n_names = sizeof texts / sizeof texts[0])
#define END          \
	{            \
		NULL \
	}

static const char *const capability_names[CAPABILITIES_MAX] = {"chown", "dac_override",
    "dac_read_search", "fowner", "fsetid", "kill", "setgid", "setuid", "setpcap", "linux_immutable",
    "net_bind_service", "net_broadcast", "net_admin", "net_raw", "ipc_lock", "ipc_owner",
    "sys_module", "sys_rawio", "sys_chroot", "sys_ptrace", "sys_pacct", "sys_admin", "sys_boot",
    "sys_nice", "sys_resource", "sys_time", "sys_tty_config", "mknod", "lease", "audit_write",
    "audit_control", "setfcap", "mac_override", "mac_admin", "syslog", "wake_alarm",
    "block_suspend", "audit_read", "perfmon", "bpf", "checkpoint_restore"};

static int check_capability(const struct fields_in *r, struct str name, const char *place)
{
	const char *near;

	for (size_t i = 0; i < CAPABILITIES_MAX; i++)
		if (str_is(name, capability_names[i]))
			return 0;
	near = str_nearest(name, capability_names, CAPABILITIES_MAX);
	problem_set(r->problem, ERR_INVALID, "there is no capability \"%.*s\"",
	    name.n > 64 ? 64 : (int)name.n, name.p);
	if (near)
		problem_hint(r->problem, "did you mean \"%s\"?", near);
	else
		problem_hint(
		    r->problem, "they are written as net_bind_service: see capabilities(7)");
	return problem_field(r->problem, place);
}

static int read_capabilities(const struct fields_in *r, json_t *v, const char *place)
{
	struct run_settings *s = r->into;
	struct field_list list = {NULL, 0};

	s->keep_capabilities = json_is_string(v) && strcmp(json_string_value(v), "all") == 0;
	if (!s->keep_capabilities && !json_is_array(v))
		return json_in_wrong(v, place, "an array of names, or \"all\",", r->problem);
	if (!s->keep_capabilities &&
	    fields_read_list(r, v, place, CAPABILITIES_MAX, NAME_MAX_BYTES, &list))
		return ERR_INVALID;
	for (size_t i = 0; i < list.n; i++)
		if (check_capability(r, list.items[i], place))
			return ERR_INVALID;
	s->capabilities = list.items;
	s->n_capabilities = list.n;
	s->limit_capabilities = !s->keep_capabilities;
	return 0;
}

static int read_umask(const struct fields_in *r, json_t *v, const char *place)
{
	const char *text = json_string_value(v);
	int32_t bits = 0;

	for (size_t i = 0; text && text[i]; i++) {
		if (i == 4 || text[i] < '0' || text[i] > '7')
			text = NULL;
		else
			bits = bits * 8 + text[i] - '0';
		if (!text)
			break;
	}
	if (!text || !*text || bits > 0777) {
		fields_refuse(r, place, "is not a mask of permissions");
		return problem_hint(r->problem, "write octal digits as a string, as \"027\"");
	}
	((struct run_settings *)r->into)->umask = bits;
	return 0;
}

static int read_cpu(const struct fields_in *r, json_t *v, const char *place)
{
	double cores = json_number_value(v);

	if (!json_is_number(v))
		return json_in_wrong(v, place, "a number of processors", r->problem);
	if (!(cores == 0 || (cores >= 0.001 && cores <= CPUS_MOST)))
		return fields_refuse(r, place, "must be 0 (no limit), or from 0.001 to 100000");
	((struct run_settings *)r->into)->limits.cpu_milli = (int32_t)(cores * 1000 + 0.5);
	return 0;
}

/* The kernel counts whole seconds; a part of one counts as one. */
static int read_cpu_time(const struct fields_in *r, json_t *v, const char *place)
{
	int64_t ms;

	if (json_in_duration(v, place, &ms, r->problem))
		return ERR_INVALID;
	if (ms == 0)
		return fields_refuse(r, place, "must be more than nothing");
	((struct run_settings *)r->into)->limits.cpu_seconds = (ms + 999) / 1000;
	return 0;
}

static const struct field limits[] = {
    F("memory", FIELD_SIZE, limits.memory, "they are ended when together they hold more"),
    OTHER("cpu", limits.cpu_milli, read_cpu, .about = "so many processors at most, as 1.5",
        TYPE("[\"number\",\"null\"]")),
    F("pids", FIELD_I32, limits.pids, "so many processes and threads at most",
        BETWEEN(0, PIDS_MOST)),
    F("open_files", FIELD_I64, limits.open_files, "open files of each process",
        BETWEEN(OPEN_FILES_LEAST, OPEN_FILES_MOST)),
    F("file_size", FIELD_SIZE, limits.file_size, "the longest file that they may write"),
    F("core_size", FIELD_SIZE, limits.core_size, "the longest core dump"),
    F("stack_size", FIELD_SIZE, limits.stack_size, "the stack of each process"),
    OTHER("cpu_time", limits.cpu_seconds, read_cpu_time,
        .about = "processor time of each process, which is then killed",
        TYPE("[\"string\",\"number\",\"null\"]")),
    CHOICE("policy", limits.policy, "what happens where memory, cpu or pids cannot be limited",
        limit_policy_names),
    END,
};

static const struct field kills[] = {
    CHOICE("method", kill.method, "TERM and then KILL after a wait, or one of the two",
        kill_method_names),
    F("wait", FIELD_DURATION, kill.wait_ms, "the time between TERM and KILL"),
    CHOICE("to", kill.to, "who gets the signals", kill_to_names),
    END,
};

static const struct field sandbox[] = {
    F("network", FIELD_BOOL, sandbox.network, "they have the network of the machine"),
    F("rootfs", FIELD_PATH, sandbox.rootfs, "the directory that is their root"),
    LIST("writable", FIELD_PATHS, sandbox.writable, "paths that they may write to",
        SANDBOX_PATHS_MAX),
    LIST("readable", FIELD_PATHS, sandbox.readable, "paths beyond their root that they may read",
        SANDBOX_PATHS_MAX),
    F("seccomp", FIELD_NOT, sandbox.no_seccomp, "a filter refuses dangerous system calls"),
    END,
};

static int read_sandbox(const struct fields_in *r, json_t *v, const char *place)
{
	struct run_settings *s = r->into;

	if (!json_is_boolean(v) && !json_is_object(v))
		return json_in_wrong(v, place, "true, false or an object", r->problem);
	s->sandbox.on = !json_is_false(v);
	return json_is_object(v) ? fields_read(r, sandbox, v, place) : 0;
}

static const struct field output[] = {
    CHOICE("policy", output_policy, "what happens when the spool is full", output_policy_names),
    F("spool", FIELD_SIZE, spool, "how much of each stream may wait on the worker's disk"),
    END,
};

const struct field run_fields[] = {
    F("user", FIELD_NAME, user, "the user that they run as, where the worker may",
        BETWEEN(0, NAME_MAX_BYTES)),
    F("group", FIELD_NAME, group, "their group; unless given that of the user",
        BETWEEN(0, NAME_MAX_BYTES)),
    LIST("groups", FIELD_NAMES, groups, "their further groups", GROUPS_MOST),
    F("nice", FIELD_I32, nice, "their share of the processor: from -20, the most, to 19, the least",
        BETWEEN(-20, 19)),
    OTHER("umask", umask, read_umask,
        .about = "permissions that new files do not get, in octal digits",
        TYPE("[\"string\",\"null\"],\"pattern\":\"^[0-7]{1,4}$\"")),
    CHOICE("parent_death_signal", death_signal,
        "the signal that they get when the worker's keeper dies", death_signal_names),
    F("process_group", FIELD_NOT, same_group, "they have a process group of their own"),
    F("no_new_privs", FIELD_NOT, new_privs,
        "no program gives them more rights, as setuid programs do"),
    {.name = "capabilities",
        .kind = FIELD_OTHER,
        .offset = offsetof(struct run_settings, capabilities),
        .size = offsetof(struct run_settings, limit_capabilities) + sizeof(bool) -
                offsetof(struct run_settings, capabilities),
        .read = read_capabilities,
        .about = "that they may have; all: those of the worker",
        .schema = "{\"oneOf\":[{\"enum\":[\"all\",null]},{\"type\":\"array\",\"items\":{\"type\":"
                  "\"string\"}}]}"},
    {.name = "limits", .kind = FIELD_OBJECT, .about = "what they may use at most", .table = limits},
    {.name = "kill", .kind = FIELD_OBJECT, .about = "how they are ended", .table = kills},
    OTHER("sandbox", sandbox, read_sandbox,
        .about = "in namespaces of their own, with a read-only root and no network",
        .table = sandbox),
    OTHER("check", check, check_read, .about = "how to see whether it is healthy",
        .schema = "{\"oneOf\":[{\"$ref\":\"#/components/schemas/RunCheck\"},{\"type\":\"null\"}]}"),
    OTHER("checks", checks, checks_read,
        .about = "how to see whether it is up, whether it is alive, and whether it is ready",
        .schema =
            "{\"oneOf\":[{\"$ref\":\"#/components/schemas/RunChecks\"},{\"type\":\"null\"}]}"),
    F("result_file", FIELD_FILE, result_file,
        "what they write there, at most 50 KiB, is the result of the task"),
    F("status_file", FIELD_BOOL, status_file,
        "the last line of $REEVE_STATUS_FILE says how the task ended"),
    F("input", FIELD_TEXT, input, "their standard input", BETWEEN(0, RUN_INPUT_MAX)),
    {.name = "output",
        .kind = FIELD_OBJECT,
        .about = "output that the server has not taken yet",
        .table = output},
    END,
};

/* What is wrong only together, or too small. */
static int check_whole(const struct fields_in *r)
{
	const struct run_settings *s = r->into;

	if (s->spool >= 0 && s->spool < SPOOL_LEAST)
		return fields_refuse(r, "run.output.spool", "must be at least 4 KiB");
	if (s->kill.to == KILL_TO_GROUP && s->same_group) {
		fields_refuse(r, "run.kill.to",
		    "is \"group\", but with process_group false the task has no group of its own");
		return problem_hint(r->problem,
		    "leave process_group out, or send the signals to the cgroup or the child");
	}
	return 0;
}

int settings_parse(
    const json_t *object, struct arena *a, struct run_settings *io, struct problem *p)
{
	struct run_settings defaults;
	struct fields_in r = {a, io, &defaults, p};
	int rc;

	run_settings_default(&defaults);
	rc = fields_read(&r, run_fields, (json_t *)object, "run");
	return rc ? rc : check_whole(&r);
}

int settings_over(const json_t *queue, const json_t *task, struct arena *a,
    struct run_settings *ret, struct problem *p)
{
	struct run_settings bound;
	int rc = 0;

	run_settings_default(ret);
	if (queue)
		rc = settings_parse(queue, a, ret, p);
	bound = *ret;
	if (rc == 0 && task)
		rc = settings_parse(task, a, ret, p);
	return rc ? rc : run_settings_bind(&bound, ret, p);
}

static int parse_text(struct str text, json_t **ret, struct problem *p)
{
	*ret = NULL;
	return text.n ? json_in_parse(text, ret, p) : 0;
}

int settings_merge(
    struct str queue, struct str task, struct arena *a, struct run_settings *ret, struct problem *p)
{
	json_t *q = NULL, *t = NULL;
	int rc = parse_text(queue, &q, p);

	if (rc == 0)
		rc = parse_text(task, &t, p);
	if (rc == 0)
		rc = settings_over(q, t, a, ret, p);
	json_decref(q);
	json_decref(t);
	return rc;
}
