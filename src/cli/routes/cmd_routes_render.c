/* SPDX-License-Identifier: Apache-2.0 */
/* routes render: the state of routes through a template into a proxy's configuration. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/frame/interrupt.h"
#include "cli/output/output.h"
#include "cli/routes/routes.h"
#include "cli/tasks/work.h"

#define LOOK_MS 250 /* how often a file is looked at */
#define INTERVAL_MS 1000
#define TIMEOUT_MS 30000

struct rendering {
	struct cli *c;
	const char *template_path, *from;
	struct target_file target;
	int64_t interval_ms;
	bool is_watching;
};

/* --- options --- */

static const struct {
	const char *name;
	int number;
} signals[] = {
    {"HUP", SIGHUP}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"INT", SIGINT}, {"TERM", SIGTERM}};

/* "PID-FILE", or "USR2:PID-FILE" */
static void read_signal(struct rendering *r)
{
	const char *text = options_get(&r->c->options, "signal");

	r->target.pid_file = text;
	r->target.signal = SIGHUP;
	for (size_t i = 0; text && i < N_OF(signals); i++) {
		size_t n = strlen(signals[i].name);

		if (!strncmp(text, signals[i].name, n) && text[n] == ':') {
			r->target.signal = signals[i].number;
			r->target.pid_file = text + n + 1;
		}
	}
}

static int read_command(struct rendering *r, const char *option, struct argv *ret_argv)
{
	const char *text = options_get(&r->c->options, option);

	return text ? argv_parse(option, text, ret_argv, &r->c->problem) : 0;
}

static int read_options(struct rendering *r)
{
	const struct options *o = &r->c->options;
	struct problem *p = &r->c->problem;
	int rc;

	if (o->n_args != 1)
		return problem_set(p, ERR_INVALID, "reeve routes render takes one TEMPLATE");
	r->template_path = o->args[0];
	r->from = options_get(o, "from");
	r->target.path = options_get(o, "to");
	r->is_watching = options_switch(o, "watch", false);
	if (r->is_watching && options_given(o, "once"))
		return problem_set(p, ERR_INVALID, "give either --once or --watch");
	if (!r->target.path &&
	    (options_get(o, "check") || options_get(o, "exec") || options_get(o, "signal")))
		return problem_set(
		    p, ERR_INVALID, "--check, --exec and --signal need a file: --to FILE");
	read_signal(r);
	rc = read_command(r, "check", &r->target.check);
	if (rc == 0)
		rc = read_command(r, "exec", &r->target.exec);
	if (rc == 0)
		rc = options_duration(o, "interval", &r->interval_ms, p);
	return rc < 0 ? rc : options_duration(o, "timeout", &r->target.timeout_ms, p);
}

/* --- once --- */

static int render(struct rendering *r, struct str state_text, enum write_result *ret_result)
{
	AUTO(buf_release) struct buf text = {0}, out = {0};
	AUTO(json_drop) json_t *state = NULL;
	struct template t = {.first = NULL};
	struct problem *p = &r->c->problem;
	int rc = input_read(r->c, r->template_path, TEMPLATE_MAX, &text);

	if (rc == 0) {
		buf_add_char(&text, '\n'); /* input_read() takes away how a file ends */
		rc = template_parse(buf_str(&text), &t, p);
	}
	if (rc == 0)
		rc = routes_state_read(state_text, &state, p);
	if (rc == 0)
		rc = template_run(&t, state, &out, p);
	template_release(&t);
	return rc < 0 ? rc : target_write(&r->target, buf_str(&out), ret_result, p);
}

static const char *const results[] = {[WRITE_SAME] = "unchanged",
    [WRITE_DONE] = "written",
    [WRITE_RELOADED] = "written, and reloaded"};

static int render_and_say(struct rendering *r, struct str state)
{
	enum write_result result;
	int rc = render(r, state, &result);

	if (rc == 0 && r->target.path && !(r->is_watching && result == WRITE_SAME))
		cli_note(r->c, "%s: %s", r->target.path, results[result]);
	return rc;
}

static int render_once(struct rendering *r)
{
	AUTO(buf_release) struct buf state = {0};
	int rc = r->from ? input_read(r->c, r->from, ROUTES_STATE_MAX, &state)
	                 : routes_server_get(r->c, &state);

	return rc < 0 ? rc : render_and_say(r, buf_str(&state));
}

/* --- again and again --- */

/* What went wrong is said, and the next state may be better. */
static void try(struct rendering *r, struct str state)
{
	struct problem *p = &r->c->problem;

	*p = (struct problem){0};
	if (render_and_say(r, state) < 0)
		cli_complain(&r->c->term, p);
}

/* Until something can be read, so long, or Ctrl-C. */
static bool pause_for(int fd, int64_t ms)
{
	struct pollfd p[] = {{interrupt_fd(), POLLIN, 0}, {fd, POLLIN, 0}};

	poll(p, fd < 0 ? 1 : 2, (int)ms);
	return interrupt_count() > 0;
}

/* Which file this is, and when it was changed. */
struct mark {
	uint64_t device, inode, size;
	int64_t changed_ns;
};

static struct mark mark_of(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return (struct mark){0};
	return (struct mark){st.st_dev, st.st_ino, (uint64_t)st.st_size,
	    st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec};
}

static bool is_same(struct mark a, struct mark b)
{
	return a.device == b.device && a.inode == b.inode && a.size == b.size &&
	       a.changed_ns == b.changed_ns;
}

/* What failed is tried again at each interval: the proxy may be up by then. */
static int watch_file(struct rendering *r)
{
	struct mark state = {0}, template = {0};
	int64_t next_ms = 0;
	bool failed = true;

	do {
		struct mark s = mark_of(r->from), t = mark_of(r->template_path);

		if (clock_mono_ms() < next_ms ||
		    (!failed && is_same(s, state) && is_same(t, template)))
			continue;
		state = s;
		template = t;
		r->c->problem = (struct problem){0};
		failed = render_once(r) < 0;
		if (failed)
			cli_complain(&r->c->term, &r->c->problem);
		next_ms = clock_mono_ms() + r->interval_ms;
	} while (!pause_for(-1, LOOK_MS));
	return 0;
}

/* The last whole line, without it; what follows stays. False: there is none. */
static bool take_line(struct buf *text, struct buf *ret_line)
{
	const char *end = text->n ? memrchr(text->p, '\n', text->n) : NULL, *from;
	size_t n;

	if (!end)
		return false;
	from = end > text->p ? memrchr(text->p, '\n', (size_t)(end - text->p)) : NULL;
	from = from ? from + 1 : text->p;
	buf_reset(ret_line);
	buf_add(ret_line, from, (size_t)(end - from));
	n = text->n - (size_t)(end + 1 - text->p);
	memmove(text->p, end + 1, n);
	text->n = n;
	return true;
}

/* False: it has ended. */
static bool read_more(struct buf *text)
{
	char chunk[65536];
	ssize_t n = read(STDIN_FILENO, chunk, sizeof chunk);

	if (n > 0)
		buf_add(text, chunk, (size_t)n);
	return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

/* A state on each line; of those that come within the interval, only the last one counts. */
static int watch_stdin(struct rendering *r)
{
	AUTO(buf_release) struct buf text = {0}, line = {0};
	int64_t next_ms = 0, now;
	bool is_open = true, is_new = false;

	while ((is_open || is_new) && interrupt_count() == 0) {
		now = clock_mono_ms();
		if (is_new && (now >= next_ms || !is_open)) {
			try(r, buf_str(&line));
			is_new = false;
			next_ms = clock_mono_ms() + r->interval_ms;
			continue;
		}
		if (pause_for(STDIN_FILENO, is_new ? next_ms - now : 60000))
			break;
		struct pollfd p = {STDIN_FILENO, POLLIN, 0};
		if (poll(&p, 1, 0) > 0)
			is_open = read_more(&text);
		if (text.n > ROUTES_STATE_MAX)
			return problem_set(&r->c->problem, ERR_TOO_LARGE,
			    "a line has more than %u bytes", ROUTES_STATE_MAX);
		is_new |= take_line(&text, &line);
	}
	return r->c->problem.code;
}

/* What the server tells; while it is away, all stays as it was. */
static int watch_server(struct rendering *r)
{
	struct routes_follow f = {.c = r->c};
	AUTO(buf_release) struct buf state = {0};
	struct mark template = {0};
	int64_t next_ms = 0;
	bool is_due = false;

	while (interrupt_count() == 0 && routes_follow_step(&f, LOOK_MS)) {
		struct mark t = mark_of(r->template_path);

		is_due |= f.is_changed || !is_same(t, template);
		f.is_changed = false;
		template = t;
		if (!is_due || !f.is_synced || clock_mono_ms() < next_ms)
			continue;
		routes_follow_state(&f, &state);
		r->c->problem = (struct problem){0};
		is_due = render_and_say(r, buf_str(&state)) < 0;
		if (is_due)
			cli_complain(&r->c->term, &r->c->problem);
		next_ms = clock_mono_ms() + r->interval_ms;
	}
	routes_follow_release(&f);
	return f.result;
}

static int watch(struct rendering *r)
{
	int rc;

	interrupt_catch();
	if (!r->from)
		return watch_server(r);
	rc = strcmp(r->from, "-") ? watch_file(r) : watch_stdin(r);
	return rc;
}

int cmd_routes_render(struct cli *c)
{
	struct rendering r = {.c = c, .interval_ms = INTERVAL_MS, .target.timeout_ms = TIMEOUT_MS};
	int rc = read_options(&r);

	if (rc == 0)
		rc = r.is_watching ? watch(&r) : render_once(&r);
	argv_release(&r.target.check);
	argv_release(&r.target.exec);
	return rc;
}
