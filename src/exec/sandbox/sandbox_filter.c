/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filter on system calls: everything is allowed but what reaches beyond the sandbox or is known
 * as a way to attack the kernel. Those answer EPERM, as they would without the right.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "exec/sandbox/sandbox.h"

#define NAMESPACES                                                                                 \
	(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | \
	    CLONE_NEWCGROUP | CLONE_NEWTIME)

#define OTHER_KIND 0x40000000 /* the bit of x32 */

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
    "reboot", "settimeofday", "clock_settime", "clock_settime64", "clock_adjtime",
    "clock_adjtime64", "adjtimex", "stime", "sethostname", "setdomainname", "ioperm", "iopl",
    "vhangup"};

static const unsigned denied_ioctls[] = {TIOCSTI, TIOCLINUX}; /* typing into a terminal */

/*
 * From 424 on most machines number their calls alike, so those that the library is too old to know
 * can be denied all the same. NEWEST is the last one that somebody has looked at (Linux 6.18); what
 * comes after it does not exist for the task.
 */
#if defined(SYS_open_tree) && SYS_open_tree == 428 && defined(SYS_pidfd_open) && \
    SYS_pidfd_open == 434
static const struct {
	const char *name;
	int number;
} newer[] = {{"open_tree", 428}, {"move_mount", 429}, {"fsopen", 430}, {"fsconfig", 431},
    {"fsmount", 432}, {"fspick", 433}, {"pidfd_getfd", 438}, {"process_madvise", 440},
    {"mount_setattr", 442}, {"quotactl_fd", 443}, {"open_tree_attr", 467}};
#define N_NEWER (sizeof newer / sizeof newer[0])
#define NEWEST 469 /* file_setattr */
#else
#error "look up which numbers these calls have here, and make a table of them"
#endif

/* The number, below 0 if this machine never had such a call; __NR_SCMP_ERROR: nobody knows it. */
static int number_of(const char *name)
{
	int call = seccomp_syscall_resolve_name(name);

	for (size_t i = 0; call == __NR_SCMP_ERROR && i < N_NEWER; i++)
		if (strcmp(newer[i].name, name) == 0)
			call = newer[i].number;
	return call;
}

/* One that is not known is no reason to do without: then there is no filter, and no sandbox. */
static int deny_calls(scmp_filter_ctx f)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof denied / sizeof denied[0]; i++) {
		int call = number_of(denied[i]);

		if (call == __NR_SCMP_ERROR)
			return -ENOSYS;
		r = seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), call, 0);
		if (r == -EDOM) /* there is none on this machine */
			r = 0;
	}
	return r;
}

/*
 * Before all else, what the library has no rule for: numbers above those known. They answer ENOSYS,
 * as on a kernel that does not have them yet. Calls of another kind are left to what follows.
 */
static int write_ceiling(int fd)
{
	struct sock_filter head[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, seccomp_arch_native(), 0, 4),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OTHER_KIND, 2, 0),
	    BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, NEWEST, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	};

	return write(fd, head, sizeof head) == (ssize_t)sizeof head ? 0 : -EIO;
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
		r = write_ceiling(fd);
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
