/* SPDX-License-Identifier: Apache-2.0 */
#include "net/loop/notify.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/world/clock.h"
#include "base/world/log.h"

#define RETRY_MS 1000
#define PACE_MIN_MS 10
#define WATCHDOG_MAX_US (366ll * 86400 * 1000000)

struct notify {
	struct loop_timer *timer;
	int fd;
	struct sockaddr_un to;
	socklen_t to_size;
	int64_t pace_ms; /* half of the manager's patience; 0: it does not watch */
	char state[64];  /* the line that says it, or nothing yet */
	char status[256];
	bool watched;  /* we are ready: from here on it counts */
	bool stopping; /* which is the last thing to be said */
	bool unsaid;   /* the manager has not taken what holds now */
	bool complained;
};

/* "/path", or "@name" for one that is no file. */
static bool address_of(const char *text, struct notify *n)
{
	size_t size = strlen(text);

	errno = EINVAL;
	if ((text[0] != '/' && text[0] != '@') || size < 2 || size >= sizeof n->to.sun_path)
		return false;
	n->to.sun_family = AF_UNIX;
	memcpy(n->to.sun_path, text, size);
	if (text[0] == '@')
		n->to.sun_path[0] = 0;
	n->to_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
	return true;
}

/* Half of it; 0: nobody watches, or it is somebody else who is watched. */
static int64_t pace_of(const char *usec, const char *pid)
{
	int64_t us, whom;

	if (!usec || (pid && (!str_to_i64(str_of(pid), 1, INT32_MAX, &whom) || whom != getpid())))
		return 0;
	if (!str_to_i64(str_of(usec), 1, WATCHDOG_MAX_US, &us)) {
		log_warn(
		    "WATCHDOG_USEC is \"%.40s\", which is no time: there is no watchdog", usec);
		return 0;
	}
	return us / 2000 > PACE_MIN_MS ? us / 2000 : PACE_MIN_MS;
}

static bool send_lines(struct notify *n, struct str lines)
{
	if (sendto(n->fd, lines.p, lines.n, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&n->to,
	        n->to_size) >= 0)
		return true;
	if (!n->complained)
		log_warn("the service manager is not told how we are: %s", strerror(errno));
	n->complained = true;
	return false;
}

static void rest(struct notify *n)
{
	int64_t ms = n->watched && n->pace_ms ? n->pace_ms : -1;

	if (n->unsaid && (ms < 0 || ms > RETRY_MS))
		ms = RETRY_MS;
	loop_timer_set(n->timer, ms);
}

static void say(struct notify *n, bool alive)
{
	struct buf b = {0};

	if (n->unsaid)
		buf_add_cstr(&b, n->state);
	if (n->unsaid && n->status[0])
		buf_printf(&b, "STATUS=%s\n", n->status);
	if (alive)
		buf_add_cstr(&b, "WATCHDOG=1\n");
	if (b.n && send_lines(n, buf_str(&b)))
		n->unsaid = false;
	buf_release(&b);
	rest(n);
}

static void on_timer(void *arg)
{
	struct notify *n = arg;

	say(n, n->watched && n->pace_ms);
}

struct notify *notify_new(struct loop *l)
{
	const char *address = getenv("NOTIFY_SOCKET");
	struct notify *n;

	if (!address)
		return NULL;
	n = xcalloc(1, sizeof *n);
	n->fd = !address_of(address, n)
	            ? -1
	            : socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (n->fd < 0) {
		log_warn("NOTIFY_SOCKET cannot be used: %s", strerror(errno));
		free(n);
		return NULL;
	}
	n->pace_ms = pace_of(getenv("WATCHDOG_USEC"), getenv("WATCHDOG_PID"));
	n->timer = loop_timer_new(l, on_timer, n);
	return n;
}

void notify_free(struct notify *n)
{
	if (!n)
		return;
	loop_timer_free(n->timer);
	close(n->fd);
	free(n);
}

static void set_state(struct notify *n, const char *line)
{
	if (n->stopping)
		return;
	snprintf(n->state, sizeof n->state, "%s", line);
	n->unsaid = true;
	say(n, false);
}

void notify_ready(struct notify *n)
{
	if (!n)
		return;
	n->watched = true;
	set_state(n, "READY=1\n");
}

void notify_reloading(struct notify *n)
{
	char line[64];

	if (!n)
		return;
	/* the time is for managers that wait for this very reload (Type=notify-reload) */
	snprintf(
	    line, sizeof line, "RELOADING=1\nMONOTONIC_USEC=%lld\n", (long long)clock_mono_us());
	set_state(n, line);
}

void notify_stopping(struct notify *n)
{
	if (!n)
		return;
	set_state(n, "STOPPING=1\n");
	n->stopping = true;
}

void notify_status(struct notify *n, const char *fmt, ...)
{
	va_list ap;

	if (!n)
		return;
	va_start(ap, fmt);
	vsnprintf(n->status, sizeof n->status, fmt, ap);
	va_end(ap);
	for (char *c = n->status; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = ' ';
	n->unsaid = true;
	say(n, false);
}
