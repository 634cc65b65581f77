/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw system calls, because glibc's versions of setuid and friends are made for threads that share
 * their rights, and this runs in a child that may share nothing but memory with us.
 */
#include "exec/rights.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define IN_CHILD __attribute__((no_sanitize("address", "undefined"), no_stack_protector))

static IN_CHILD int drop_bounding(uint64_t kept)
{
	for (unsigned long c = 0; c <= CAP_LAST_CAP; c++)
		if (!(kept >> c & 1) && prctl(PR_CAPBSET_READ, c) == 1 &&
		    prctl(PR_CAPBSET_DROP, c) < 0)
			return -1;
	return 0;
}

static IN_CHILD int become(const struct rights *r)
{
	if (syscall(SYS_setgroups, r->n_groups, r->groups) < 0 ||
	    syscall(SYS_setresgid, r->gid, r->gid, r->gid) < 0)
		return -1;
	return (int)syscall(SYS_setresuid, r->uid, r->uid, r->uid);
}

static IN_CHILD int set_capabilities(uint64_t kept)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	uint32_t low = (uint32_t)kept, high = (uint32_t)(kept >> 32);
	struct __user_cap_data_struct data[2] = {{low, low, low}, {high, high, high}};

	if (syscall(SYS_capset, &head, data) < 0)
		return -1;
	/* ambient ones survive the exec of an ordinary program by an ordinary user */
	for (unsigned long c = 0; c <= CAP_LAST_CAP; c++)
		if ((kept >> c & 1) && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, c, 0, 0) < 0)
			return -1;
	return 0;
}

IN_CHILD int rights_apply(const struct rights *r)
{
	bool keep = r->limit_capabilities && r->capabilities;

	if (r->limit_capabilities && drop_bounding(r->capabilities) < 0)
		return -1;
	if (r->change_user && keep && prctl(PR_SET_KEEPCAPS, 1) < 0)
		return -1;
	if (r->change_user && become(r) < 0)
		return -1;
	if (r->limit_capabilities && set_capabilities(r->capabilities) < 0)
		return -1;
	if (r->no_new_privs && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return 0;
}

uint64_t rights_own(void)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2] = {{0}};

	if (syscall(SYS_capget, &head, data) < 0)
		return 0;
	return (uint64_t)data[1].permitted << 32 | data[0].permitted;
}

static const char *const names[] = {"chown", "dac_override", "dac_read_search", "fowner", "fsetid",
    "kill", "setgid", "setuid", "setpcap", "linux_immutable", "net_bind_service", "net_broadcast",
    "net_admin", "net_raw", "ipc_lock", "ipc_owner", "sys_module", "sys_rawio", "sys_chroot",
    "sys_ptrace", "sys_pacct", "sys_admin", "sys_boot", "sys_nice", "sys_resource", "sys_time",
    "sys_tty_config", "mknod", "lease", "audit_write", "audit_control", "setfcap", "mac_override",
    "mac_admin", "syslog", "wake_alarm", "block_suspend", "audit_read", "perfmon", "bpf",
    "checkpoint_restore"};

int capability_number(const char *name)
{
	if (strncasecmp(name, "cap_", 4) == 0)
		name += 4;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcasecmp(name, names[i]) == 0)
			return (int)i;
	return -1;
}
