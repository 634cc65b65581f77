/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker's machine: a lock and a state directory that last, instances that come and go, the
 * hands (processes, healthchecks) of the present one, its keeper and its supervisor.
 */
#ifndef SIM_WORKER_H
#define SIM_WORKER_H

#include "agent/agent.h"
#include "model/objects/worker.h"
#include "sim/world/world.h"

enum process_state { PROCESS_WAITS, PROCESS_RUNS, PROCESS_OVER };

struct sim_process {
	struct sim_process *next, **prev; /* of its machine */
	int slot;
	uint64_t instance; /* the worker's instance that started the process */
	rid task;
	int64_t token;
	enum process_state state;
	int64_t started_us;
	int64_t left_us;        /* still to run, when it starts */
	struct agent_exit exit; /* how it ends by itself */
	bool ignores_term;
	int temper; /* of an instance of a service: how it fares; 0: it is none */
	uint32_t n_ports;
	bool unread; /* nobody reads its output now: it waits, and so does the word of its end */
	bool is_over_unread;
	bool is_given_up; /* by the server: its queue's limit does not count it any more */
	bool overslept;   /* the machine sleeps, or slept, past the process's end */
	int64_t produced[N_STREAMS];
	int64_t read; /* of its streamed input */
	int chunks_left;
	struct sim_event *event; /* the process's next event */
};

struct sim_worker {
	struct sim_node node;
	char shard[16], lock[24];
	int64_t last_started_ms; /* in the state directory */
	/* the instance */
	struct agent *agent; /* NULL: none runs */
	struct agent_effects effects;
	uint64_t instance, incarnation; /* random; counted */
	uint64_t lost_instance;         /* the instance that the server has lost for its silence */
	int64_t row_started_ms;         /* of the newest instance that the store knows */
	int64_t last_ok_us;             /* when a healthcheck last went well; of the instance */
	int64_t started_ms;
	uint64_t link; /* 0: none is open */
	bool dialling, exiting, exit_restart;
	int exit_code;
	int64_t redial_us;
	struct sim_event *wake, *guard, *start;
	bool stepping;
	struct arena arena; /* of one step */
	struct sim_process *processes;
	int32_t n_processes;
	int32_t maxthreads;
	char offer[64], labels[16]; /* of the instance */
	int64_t kill_wait_ms;       /* as its keeper was told last */
	struct agent_options agent_options;
	/* faults */
	int64_t check_takes_us;   /* a script's; 0: as usual */
	int64_t no_fork_until_us; /* no process can be started */
	bool stays_down;          /* a script's: no supervisor */
	bool drops_receipts;      /* a program of before there were receipts */
	int lies;                 /* so many of its next hellos claim others' attempts, too */
	struct rng lie_rng;
	int die_after;       /* killed before the worker does so many more things; 0: not */
	int64_t die_down_us; /* and is started again after that time; negative: not */
};

void sim_workers_init(struct world *w);
void sim_workers_release(struct world *w);
/* A new instance after that time, once nothing is left of the one before. */
void sim_worker_start(struct world *w, int slot, int64_t in_us);
/* kill -9 of the worker: its keeper ends the processes soon after. Started again after down_us;
 * negative: only by sim_worker_start(). */
void sim_worker_kill(struct world *w, int slot, int64_t down_us);
/* The same in the middle of what its brain wants done: before the n-th effect from now. */
void sim_worker_kill_at(struct world *w, int slot, int n, int64_t down_us);
/* When it must have given up, if nothing is heard; INT64_MAX: there is no such time. */
int64_t sim_worker_give_up_us(const struct world *w, int slot);
/* Everything on the machine is gone at once; nobody is told. */
void sim_machine_crash(struct world *w, int slot, int64_t down_us);
/* The operator's SIGTERM. */
void sim_worker_leave(struct world *w, int slot);
/* What the agent is told, now; with the times of its clocks. */
void sim_worker_feed(struct world *w, int slot, struct agent_event *e);
void sim_worker_link_up(struct world *w, int slot, uint64_t link);
void sim_worker_link_down(struct world *w, int slot, uint64_t link);
/* A message of the server for it, as an event for the agent. */
void sim_worker_message(struct world *w, int slot, const struct message *m);
/* The alarm of the brain is set anew (its clock has changed). */
void sim_worker_wake(struct world *w, int slot);
/* The worker stands still: its keeper watches the time. */
void sim_worker_paused(struct world *w, int slot);
/* Dials, if its brain is in a mood for that. */
void sim_worker_dial(struct world *w, int slot);
/* No more faults; whoever is down is started. */
void sim_workers_heal(struct world *w);
void sim_worker_facts(const struct sim_worker *k, struct worker_facts *ret_facts);
/* The agent, to be looked at; NULL while none runs. */
/* The instance ends, if its agent wanted that. */
void sim_worker_leave_if_exiting(struct world *w, int slot);
const struct agent *sim_agent(const struct world *w, int slot);
int64_t sim_worker_mono_ms(const struct world *w, int slot);
/* SE_WORKER_*, SE_HAND, SE_PROCESS_*, SE_GUARD. */
void sim_worker_event(struct world *w, struct sim_event *e);

/* process.c */
void sim_process_new(struct world *w, int slot, const struct agent_effect *e);
/* Go on or stop reading its output. */
void sim_process_read(struct world *w, int slot, rid task, int64_t token, bool on);
/* The process's streamed input goes on: load_input.c knows what it should read. */
void sim_process_given(struct world *w, int slot, const struct agent_effect *e);
void sim_process_input(struct world *w, struct sim_process *p, const struct link_input *in);
void sim_process_stop(struct world *w, int slot, rid task, int64_t token, bool kill);
/* All of the machine, at once or one after the other within that time. */
void sim_processes_end(struct world *w, int slot, int64_t within_us);
void sim_process_event(struct world *w, struct sim_event *e);
/* The byte at that place of an attempt's output: any other one is somebody else's. */
char sim_output_byte(rid task, int64_t token, int stream, int64_t offset);
struct str sim_result(int64_t token); /* static */

/* A hand's word to the present instance's agent, a little later; the output's bytes are copied. */
void sim_hand(struct world *w, int slot, int64_t in_us, const struct agent_event *e);

#endif
