/* SPDX-License-Identifier: Apache-2.0 */
#include "server/copy_talk.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/world/clock.h"
#include "server/store_command.h"

#define SILENT_MS 1000 /* what is over by then needs no progress */
#define REDRAW_MS 200
#define MIB 1048576

/* The first signal asks to stop and to clean up; a second one is not waited for. */
static volatile sig_atomic_t asked_to_stop;

static void on_signal(int number)
{
	asked_to_stop = number;
}

static void catch_signals(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		sigaction(numbers[i], &action, NULL);
}

static bool draws_now(struct copy_talk *t)
{
	int64_t now = clock_mono_ms();

	if (!isatty(STDERR_FILENO) || now - t->begun_ms < SILENT_MS ||
	    now - t->drawn_ms < REDRAW_MS)
		return false;
	t->drawn_ms = now;
	return true;
}

static void wipe(struct copy_talk *t)
{
	if (t->drawn_ms)
		fprintf(stderr, "\r\033[K");
	t->drawn_ms = 0;
}

static bool on_copied(void *arg, int64_t bytes, int64_t of)
{
	if (!draws_now(arg))
		return !asked_to_stop;
	if (of)
		fprintf(stderr, "\r\033[Kcopying: %d %% of %.1f MiB",
		    (int)((double)bytes / (double)of * 100), (double)of / MIB);
	else
		fprintf(stderr, "\r\033[Kcopying: %.1f MiB", (double)bytes / MIB);
	return !asked_to_stop;
}

static void on_checked(void *arg, int64_t rows)
{
	if (draws_now(arg))
		fprintf(stderr, "\r\033[Kchecking: %lld rows", (long long)rows);
}

static void on_damaged(void *arg, const char *table, const char *name, const char *what)
{
	struct copy_talk *t = arg;

	wipe(t);
	t->n_damaged++;
	fprintf(stderr, "damaged: %s%s%s: %s\n", table, name ? " " : "", name ? name : "", what);
}

struct store_copying copy_talk_begin(struct copy_talk *t, const struct options *o)
{
	*t = (struct copy_talk){.begun_ms = clock_mono_ms()};
	catch_signals();
	return (struct store_copying){
	    .arg = t,
	    .copied = on_copied,
	    .check = {t, on_damaged, on_checked},
	    .replace = options_switch(o, "force", false),
	    .damaged = options_switch(o, "damaged", false),
	};
}

static const char *are(int64_t n)
{
	return n == 1 ? "thing is" : "things are";
}

int copy_talk_failed(struct copy_talk *t, const char *then, struct problem *problem)
{
	wipe(t);
	if (asked_to_stop)
		problem_set(problem, ERR_TIMEOUT, "stopped: %s", then);
	else if (problem->code == 0) {
		problem_set(problem, ERR_STORE, "%lld %s damaged: %s", (long long)t->n_damaged,
		    are(t->n_damaged), then);
		problem_hint(problem, "--damaged takes it all the same");
	}
	store_explain(problem);
	return asked_to_stop ? 128 + asked_to_stop : err_exit_code(problem->code);
}

int copy_talk_done(
    struct copy_talk *t, FILE *to, const char *what, const char *from, const struct store_copy *c)
{
	wipe(t);
	if (c->rows)
		fprintf(to, "%s: %.1f MiB, %lld rows, schema version %d", what,
		    (double)c->bytes / MIB, (long long)c->rows, c->version);
	else
		fprintf(to,
		    "%s: %.1f MiB, schema version %d (its rows are not checked: this reeve "
		    "checks those of %d)",
		    what, (double)c->bytes / MIB, c->version, STORE_SCHEMA_VERSION);
	if (t->n_damaged)
		fprintf(to, "; %lld %s damaged", (long long)t->n_damaged, are(t->n_damaged));
	else
		fprintf(to, "; nothing is damaged");
	fprintf(to, "; from %s\n", strcmp(from, "-") ? from : "standard input");
	return t->n_damaged ? 1 : 0;
}
