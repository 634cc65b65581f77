/* SPDX-License-Identifier: Apache-2.0 */
/* Order is everything here: a later mount covers an earlier one. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exec/sandbox/sandbox_internal.h"

/* Is `path` that directory, or in it? Both are absolute and without a slash at the end. */
static bool is_within(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (strcmp(dir, "/") == 0)
		return true;
	return strncmp(path, dir, n) == 0 && (path[n] == 0 || path[n] == '/');
}

/* What a path leads to; itself where we may not look. NULL: there is nothing. */
static const char *real_path(struct making *m, const char *path)
{
	char real[PATH_MAX];

	if (realpath(path, real))
		return arena_strdup(m->arena, real);
	return errno == ENOENT || errno == ENOTDIR ? NULL : path;
}

static int bad_path(struct making *m, const char *field, const char *path, const char *why)
{
	problem_set(m->problem, ERR_INVALID, "sandbox.%s %.160s: %s", field, path, why);
	problem_field(m->problem, field);
	return ERR_INVALID;
}

/* Read-only or not: a fresh one is made of these, and through the host's one gets out. */
static bool is_kernels(const char *path)
{
	return is_within(path, "/proc") || is_within(path, "/sys") || is_within(path, "/dev");
}

/* ret_real: what it leads to. A link that is changed later leads elsewhere, but never beyond what
 * the task's user may do. */
static int check_path(struct making *m, const char *field, struct str path, const char **ret_given,
    const char **ret_real)
{
	const char *given, *real;

	if (path.n == 0 || path.p[0] != '/' || memchr(path.p, 0, path.n) || path.n >= PATH_MAX)
		return bad_path(m, field, "", "must be an absolute path");
	given = arena_str(m->arena, path).p;
	real = real_path(m, given);
	if (!real) {
		bad_path(m, field, given, "does not exist on the worker");
		problem_hint(m->problem, "create it there, or leave it out");
		return ERR_INVALID;
	}
	if (is_kernels(real))
		return bad_path(m, field, given, "/proc, /sys and /dev of the host stay outside");
	for (size_t i = 0; i < m->n_hidden; i++)
		if (is_within(real, m->hidden[i]))
			return bad_path(m, field, given, "belongs to Reeve and stays outside");
	*ret_given = given;
	*ret_real = real;
	return 0;
}

static int add_bind(struct making *m, const char *field, const char *word, struct str path)
{
	const char *given, *real;
	int r = check_path(m, field, path, &given, &real);

	if (r < 0)
		return r;
	if (strcmp(real, "/") == 0)
		return bad_path(
		    m, field, given, "the whole root cannot be given: name directories");
	/* under another name, what is hidden would show */
	for (size_t i = 0; i < m->n_hidden; i++)
		if (strcmp(real, given) != 0 && is_within(m->hidden[i], real))
			return bad_path(
			    m, field, given, "is a link to a place that holds files of Reeve");
	sandbox_option3(m, word, given, given);
	m->bound[m->n_bound++] = real;
	return 0;
}

/* Names are asked for through sockets and files that lie in /run on many hosts. */
static void add_resolver(struct making *m)
{
	static const char *const places[] = {"/run/systemd/resolve", "/run/resolvconf",
	    "/run/NetworkManager/resolv.conf", "/run/NetworkManager/no-stub-resolv.conf"};

	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
		sandbox_option3(m, "--ro-bind-try", places[i], places[i]);
}

/* The host's root, or one that holds nothing of ours. */
static int find_root(struct making *m, const char **ret_root)
{
	const struct run_sandbox *b = m->s->sandbox;
	const char *real = "/";
	int r;

	*ret_root = "/";
	if (b->rootfs.p && (r = check_path(m, "rootfs", b->rootfs, ret_root, &real)) < 0)
		return r;
	if (strcmp(real, "/") == 0) {
		m->bound[m->n_bound++] = "/";
		*ret_root = "/";
		return 0;
	}
	for (size_t i = 0; i < m->n_hidden; i++)
		if (is_within(m->hidden[i], real))
			return bad_path(m, "rootfs", *ret_root, "holds files that belong to Reeve");
	return 0;
}

/* Root is root in there, too: these would set the whole machine. */
static void cover_proc(struct making *m)
{
	static const char *const paths[] = {"/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs",
	    "/proc/acpi", "/proc/sysrq-trigger", "/proc/kcore", "/proc/kmsg", "/proc/scsi"};

	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
		if (access(paths[i], F_OK) == 0)
			sandbox_option3(m, "--ro-bind", paths[i], paths[i]);
}

static int add_root(struct making *m)
{
	const char *root;
	int r = find_root(m, &root);

	if (r < 0)
		return r;
	sandbox_option3(m, "--ro-bind", root, "/");
	sandbox_option2(m, "--proc", "/proc");
	if (m->s->privileged) /* others could not write them anyway */
		cover_proc(m);
	sandbox_option2(m, "--dev", "/dev");
	sandbox_option2(m, "--tmpfs", "/tmp");
	if (strcmp(root, "/") != 0)
		return 0;
	/* a read-only mount does not keep anybody from talking to the sockets in it */
	sandbox_option2(m, "--tmpfs", "/run");
	if (access("/var/tmp", F_OK) == 0)
		sandbox_option2(m, "--tmpfs", "/var/tmp");
	if (m->s->sandbox->network)
		add_resolver(m);
	return 0;
}

static int add_binds(struct making *m)
{
	const struct run_sandbox *b = m->s->sandbox;
	int r = 0;

	for (size_t i = 0; r == 0 && i < b->n_readable; i++)
		r = add_bind(m, "readable", "--ro-bind", b->readable[i]);
	for (size_t i = 0; r == 0 && i < b->n_writable; i++)
		r = add_bind(m, "writable", "--bind", b->writable[i]);
	return r;
}

/* In a root of one's own, only what was bound into it can show anything of the host. */
static bool is_visible(const struct making *m, const char *path)
{
	for (size_t i = 0; i < m->n_bound; i++)
		if (is_within(path, m->bound[i]))
			return true;
	return false;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 || S_ISDIR(st.st_mode);
}

/* After all binds, so that none uncovers it; then come our own ones in it, and it is closed. */
static void add_hidden(struct making *m)
{
	for (size_t i = 0; i < m->n_hidden; i++)
		if (!is_visible(m, m->hidden[i]))
			m->hidden[i--] = m->hidden[--m->n_hidden];
		else if (is_directory(m->hidden[i]))
			sandbox_option2(m, "--tmpfs", m->hidden[i]);
		else
			sandbox_option3(m, "--ro-bind", "/dev/null", m->hidden[i]);
	for (size_t i = 0; i < m->s->n_own; i++)
		sandbox_option3(m, "--bind", m->s->own[i], m->s->own[i]);
	for (size_t i = 0; i < m->n_hidden; i++)
		if (is_directory(m->hidden[i]))
			sandbox_option2(m, "--remount-ro", m->hidden[i]);
}

static bool is_hidden_already(const struct making *m, const char *path)
{
	for (size_t i = 0; i < m->n_hidden; i++)
		if (is_within(path, m->hidden[i]))
			return true;
	return false;
}

/* Outer ones come first: what is inside of them is hidden with them. */
static void resolve_hidden(struct making *m)
{
	m->hidden = arena_zalloc(m->arena, (m->s->n_hidden + 1) * sizeof *m->hidden);
	for (size_t i = 0; i < m->s->n_hidden; i++) {
		const char *real = real_path(m, m->s->hidden[i]);

		if (real && !is_hidden_already(m, real))
			m->hidden[m->n_hidden++] = real;
	}
}

int sandbox_add_paths(struct making *m)
{
	const struct run_sandbox *b = m->s->sandbox;
	int r;

	resolve_hidden(m);
	m->bound = arena_zalloc(m->arena, (b->n_readable + b->n_writable + 1) * sizeof *m->bound);
	r = add_root(m);
	if (r == 0)
		r = add_binds(m);
	if (r == 0)
		add_hidden(m);
	return r;
}

static bool goes_up(const char *path)
{
	for (const char *p = path; (p = strstr(p, "/..")); p += 3)
		if (p[3] == 0 || p[3] == '/')
			return true;
	return false;
}

bool sandbox_is_shared(
    const struct run_sandbox *b, const char *const *hidden, size_t n_hidden, const char *path)
{
	char real[PATH_MAX], given[PATH_MAX];
	bool shared = false;

	for (size_t i = 0; i < b->n_writable; i++) {
		size_t n = b->writable[i].n;

		while (n > 1 && b->writable[i].p[n - 1] == '/')
			n--;
		snprintf(given, sizeof given, "%.*s", (int)n, b->writable[i].p);
		shared |= is_within(path, given);
	}
	for (size_t i = 0; i < n_hidden; i++)
		shared &= !is_within(path, realpath(hidden[i], real) ? real : hidden[i]);
	return shared && !goes_up(path);
}
