/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filter on system calls: everything is allowed but what reaches beyond the sandbox or is known
 * as a way to attack the kernel. Those answer EPERM, as they would without the right.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "exec/sandbox.h"

#define NAMESPACES                                                                                 \
	(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | \
	    CLONE_NEWCGROUP | CLONE_NEWTIME)

static const char *const denied[] = {
    /* mounts and roots */
    "mount", "umount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree",
    "open_tree_attr", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "swapon",
    "swapoff", "quotactl", "quotactl_fd", "nfsservctl",
    /* namespaces */
    "unshare", "setns",
    /* other processes */
    "ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd", "process_madvise",
    "move_pages", "migrate_pages",
    /* the kernel itself */
    "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module",
    "create_module", "query_module", "get_kernel_syms", "bpf", "perf_event_open", "userfaultfd",
    "io_uring_setup", "io_uring_enter", "io_uring_register", "syslog", "lookup_dcookie", "_sysctl",
    "sysfs", "uselib", "ustat", "acct", "vm86", "vm86old", "modify_ldt", "fanotify_init",
    /* keys are not kept apart by namespaces */
    "add_key", "request_key", "keyctl",
    /* files by number, past what is mounted */
    "open_by_handle_at", "name_to_handle_at",
    /* the machine */
    "reboot", "settimeofday", "clock_settime", "clock_settime64", "clock_adjtime", "stime",
    "sethostname", "setdomainname", "ioperm", "iopl", "vhangup"};

static const unsigned denied_ioctls[] = {TIOCSTI, TIOCLINUX}; /* typing into a terminal */

/* A library older than the call does not know its name; then neither do programs of its time. */
static int deny_calls(scmp_filter_ctx f)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof denied / sizeof denied[0]; i++) {
		int call = seccomp_syscall_resolve_name(denied[i]);

		if (call != __NR_SCMP_ERROR)
			r = seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), call, 0);
		if (r == -EDOM) /* there is none on this machine */
			r = 0;
	}
	return r;
}

/* clone3 has its flags in memory, where no filter can look: libraries fall back to clone. */
static int deny_clones(scmp_filter_ctx f)
{
	int r = seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);

	for (unsigned bit = 0; r == 0 && bit < 32; bit++)
		if (NAMESPACES & (1u << bit))
			r = seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
			    SCMP_A0(SCMP_CMP_MASKED_EQ, 1u << bit, 1u << bit));
	return r;
}

static int deny_ioctls(scmp_filter_ctx f)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof denied_ioctls / sizeof denied_ioctls[0]; i++)
		r = seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
		    SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffu, denied_ioctls[i]));
	return r;
}

static int build(int fd)
{
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);
	int r;

	if (!f)
		return -ENOMEM;
	/* calls of another kind (32 bits, x32) have other numbers: their caller is killed, SIGSYS
	 */
	r = seccomp_attr_set(f, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	if (r == 0)
		r = deny_calls(f);
	if (r == 0)
		r = deny_clones(f);
	if (r == 0)
		r = deny_ioctls(f);
	if (r == 0)
		r = seccomp_export_bpf(f, fd);
	seccomp_release(f);
	return r;
}

int sandbox_filter_make(int *ret_fd, struct problem *p)
{
	int fd = memfd_create("sandbox-filter", MFD_CLOEXEC | MFD_ALLOW_SEALING), r;

	if (fd < 0)
		return problem_set(p, ERR_IO, "the filter of the sandbox: %s", strerror(errno));
	r = build(fd);
	if (r < 0) {
		close(fd);
		return problem_set(p, ERR_INTERNAL, "the filter of the sandbox: %s", strerror(-r));
	}
	fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
	*ret_fd = fd;
	return 0;
}
