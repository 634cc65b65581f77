/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/world/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/world/trace.h"

struct sim_trace {
	struct trace *file;
	struct sim_trace_names names;
	struct trace_host **hosts;
	size_t n_hosts, cap_hosts;
	struct arena arena; /* the clocks of all packets: doubled ones share theirs */
	struct buf text, plain;
};

int sim_trace_open(struct world *w, const char *path, const struct sim_trace_names *names,
    struct problem *ret_problem)
{
	struct trace *file;
	int e;

	/* another run's nodes have the same names, and count from 1, too */
	if ((e = trace_open(path, true, &file, ret_problem)) < 0)
		return e;
	w->trace = xcalloc(1, sizeof *w->trace);
	w->trace->file = file;
	if (names)
		w->trace->names = *names;
	return 0;
}

void sim_trace_close(struct world *w)
{
	struct sim_trace *t = w->trace;

	if (!t)
		return;
	for (size_t i = 0; i < t->n_hosts; i++)
		trace_host_free(t->hosts[i]);
	free(t->hosts);
	trace_close(t->file);
	arena_release(&t->arena);
	buf_release(&t->text);
	buf_release(&t->plain);
	free(t);
	w->trace = NULL;
}

static const char *name_of(struct world *w, int slot, uint64_t link)
{
	const struct sim_trace_names *names = &w->trace->names;
	const char *name = NULL;

	if (slot != SIM_SERVER && names->node)
		name = names->node(names->arg, slot, link);
	return name ? name : world_node_name(w, slot);
}

static struct trace_host *host_of(struct sim_trace *t, const char *name)
{
	for (size_t i = 0; i < t->n_hosts; i++)
		if (!strcmp(trace_host_name(t->hosts[i]), name))
			return t->hosts[i];
	GROW(t->hosts, t->cap_hosts, t->n_hosts + 1);
	return t->hosts[t->n_hosts++] = trace_host_new(t->file, str_of(name));
}

/* "[12.345s] ": in true time, which no node knows. */
static void put_time(const struct world *w, struct buf *out)
{
	buf_reset(out);
	buf_printf(out, "[%lld.%03llds] ", (long long)(w->now_us / SECOND_US),
	    (long long)(w->now_us % SECOND_US / 1000));
}

static void put_words(struct sim_trace *t, struct str words)
{
	if (t->names.words)
		t->names.words(t->names.arg, words.p, &t->text);
	else
		buf_add_str(&t->text, words);
}

static void put_message(struct world *w, const char *verb, const char *peer, const struct packet *p)
{
	struct sim_trace *t = w->trace;

	put_time(w, &t->text);
	buf_printf(&t->text, "%s %s: ", verb, peer);
	buf_reset(&t->plain);
	packet_words(w, p, &t->plain);
	put_words(t, buf_str(&t->plain));
}

void sim_trace_sent(struct world *w, struct packet *p, int slot)
{
	struct sim_trace *t = w->trace;
	bool by_server = p->direction == TO_WORKER;
	struct trace_host *from = host_of(t, name_of(w, by_server ? SIM_SERVER : slot, p->link));

	put_message(w, "sends to", name_of(w, by_server ? slot : SIM_SERVER, p->link), p);
	p->clock = arena_str(&t->arena, trace_send(from, buf_str(&t->text)));
}

void sim_trace_arrived(struct world *w, const struct packet *p, int slot)
{
	struct sim_trace *t = w->trace;
	bool by_server = p->direction == TO_WORKER;
	struct trace_host *to = host_of(t, name_of(w, by_server ? slot : SIM_SERVER, p->link));

	put_message(w, "receives from", name_of(w, by_server ? SIM_SERVER : slot, p->link), p);
	trace_receive(to, p->clock, buf_str(&t->text));
}

/* The node whose name the line begins with; false: none. *ret_rest: what is said of it. */
static bool subject_of(struct world *w, const char *line, int *ret_slot, const char **ret_rest)
{
	for (int slot = SIM_SERVER; slot < w->o.workers; slot++) {
		const char *name = world_node_name(w, slot);
		size_t n = strlen(name);

		if (strncmp(line, name, n) != 0)
			continue;
		n += line[n] == ':';
		if (line[n] != ' ')
			continue;
		*ret_slot = slot;
		*ret_rest = line + n + 1;
		return true;
	}
	return false;
}

void sim_trace_told(struct world *w, const char *line)
{
	struct sim_trace *t = w->trace;
	const char *rest;
	int slot;

	/* messages are told in their own words, and by both sides */
	if (!subject_of(w, line, &slot, &rest) || !strncmp(rest, "-> ", 3))
		return;
	put_time(w, &t->text);
	put_words(t, str_of(rest));
	trace_local(host_of(t, name_of(w, slot, 0)), buf_str(&t->text));
}
