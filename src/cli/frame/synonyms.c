/* SPDX-License-Identifier: Apache-2.0 */
/*
 * People come with the words of Slurm, kubectl, Nomad, systemd, cron and shells. Where the letters
 * of a word say nothing about what it means, this table does.
 */
#include "cli/frame/synonyms.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *word, *second, *meant; /* second NULL: whatever follows */
} commands[] = {
    {"ps", NULL, "task ls"},
    {"ls", NULL, "task ls"},
    {"list", NULL, "task ls"},
    {"jobs", NULL, "task ls"},
    {"tasks", NULL, "task ls"},
    {"squeue", NULL, "task ls"},
    {"sacct", NULL, "task ls"},
    {"job", NULL, "task ls"},
    {"array", NULL, "batch ls"},
    {"batches", NULL, "batch ls"},
    {"batch", "cancel", "cancel NAME"},
    {"batch", "rm", "cancel NAME"},
    {"batch", "delete", "cancel NAME"},
    {"batch", "retry", "retry NAME"},
    {"batch", "wait", "wait NAME"},
    {"batch", "logs", "logs NAME"},
    {"batch", "why", "why NAME"},
    {"groups", NULL, "group ls"},
    {"dag", NULL, "group submit FILE"},
    {"dags", NULL, "group ls"},
    {"workflow", NULL, "group submit FILE"},
    {"workflows", NULL, "group ls"},
    {"pipeline", NULL, "group submit FILE"},
    {"trigger", NULL, "group trigger"},
    {"pods", NULL, "task ls"},
    {"get", "groups", "group ls"},
    {"get", "queues", "queue ls"},
    {"get", "workers", "worker ls"},
    {"get", "nodes", "worker ls"},
    {"get", "schedules", "schedule ls"},
    {"get", "cronjobs", "schedule ls"},
    {"get", NULL, "task ls"},
    {"show", NULL, "task show ID"},
    {"describe", NULL, "task show ID"},
    {"inspect", NULL, "task show ID"},
    {"info", NULL, "status"},
    {"kill", NULL, "cancel ID"},
    {"stop", NULL, "cancel ID"},
    {"delete", NULL, "cancel ID"},
    {"rm", NULL, "cancel ID"},
    {"abort", NULL, "cancel ID"},
    {"scancel", NULL, "cancel ID"},
    {"sbatch", NULL, "submit"},
    {"add", NULL, "submit"},
    {"enqueue", NULL, "submit"},
    {"push", NULL, "submit"},
    {"apply", NULL, "submit"},
    {"srun", NULL, "run"},
    {"exec", NULL, "run"},
    {"start", NULL, "run"},
    {"rerun", NULL, "retry ID"},
    {"requeue", NULL, "retry ID"},
    {"restart", NULL, "retry ID"},
    {"hold", NULL, "task hold ID"},
    {"release", NULL, "task release ID"},
    {"log", NULL, "logs ID"},
    {"tail", NULL, "logs -f ID"},
    {"attach", NULL, "logs -f ID"},
    {"follow", NULL, "logs -f ID"},
    {"output", NULL, "logs ID"},
    {"explain", NULL, "why ID"},
    {"reason", NULL, "why ID"},
    {"drain", NULL, "worker drain NAME"},
    {"undrain", NULL, "worker undrain NAME"},
    {"cordon", NULL, "worker drain NAME"},
    {"uncordon", NULL, "worker undrain NAME"},
    {"node", NULL, "worker ls"},
    {"nodes", NULL, "worker ls"},
    {"sinfo", NULL, "worker ls"},
    {"workers", NULL, "worker ls"},
    {"agent", NULL, "worker"},
    {"queues", NULL, "queue ls"},
    {"pause", NULL, "queue pause NAME"},
    {"resume", NULL, "queue resume NAME"},
    {"suspend", NULL, "queue pause NAME"},
    {"crontab", NULL, "schedule ls"},
    {"schedules", NULL, "schedule ls"},
    {"timer", NULL, "schedule ls"},
    {"timers", NULL, "schedule ls"},
    {"cron", "add", "schedule add NAME"},
    {"cron", "ls", "schedule ls"},
    {"cron", "list", "schedule ls"},
    {"cron", "rm", "schedule rm NAME"},
    {"schedule", "create", "schedule add NAME"},
    {"queue", "add", "queue create NAME"},
    {"history", NULL, "task history ID"},
    {"watch", NULL, "top"},
    {"monitor", NULL, "top"},
    {"htop", NULL, "top"},
    {"dump", NULL, "backup FILE"},
    {"man", NULL, "help"},
    {"usage", NULL, "help"},
    {"exit", NULL, "help"},
    {"quit", NULL, "help"},
    {"migrate", NULL, "store migrate"},
    {"token", "add", "token create NAME"},
    {"login", NULL, "token create NAME"},
    {"serve", NULL, "server"},
    {"daemon", NULL, "server"},
    {"up", NULL, "dev"},
};

/* Of any verb, or of the verb itself, behind whatever noun. */
static const struct {
	const char *verb, *meant;
} verbs[] = {
    {"list", "ls"},
    {"get", "show"},
    {"describe", "show"},
    {"info", "show"},
    {"delete", "rm"},
    {"remove", "rm"},
    {"edit", "set"},
    {"update", "set"},
    {"change", "set"},
    {"new", "create"},
    {"stop", "pause"},
    {"disable", "pause"},
    {"enable", "resume"},
    {"unpause", "resume"},
};

static const struct {
	const char *command, *name, *meant; /* command NULL: any; meant without dashes */
} options[] = {
    {NULL, "at", "run-after"},
    {NULL, "begin", "run-after"},
    {NULL, "delay", "run-after"},
    {NULL, "after", "run-after"},
    {NULL, "in", "run-after"},
    {NULL, "held", "hold"},
    {NULL, "mem", "memory"},
    {NULL, "cpus", "cpu"},
    {NULL, "dir", "cwd"},
    {NULL, "chdir", "cwd"},
    {NULL, "workdir", "cwd"},
    {NULL, "working-directory", "cwd"},
    {NULL, "export", "env"},
    {NULL, "time", "timeout"},
    {NULL, "time-limit", "timeout"},
    {NULL, "retries", "max-attempts"},
    {NULL, "attempts", "max-attempts"},
    {NULL, "partition", "queue"},
    {NULL, "unique", "key"},
    {NULL, "tag", "label"},
    {NULL, "selector", "label"},
    {NULL, "node", "worker"},
    {NULL, "status", "state"},
    {NULL, "lines", "tail"},
    {NULL, "sort", "order"},
    {NULL, "concurrency", "threads"},
    {NULL, "max-threads", "maxthreads"},
    {NULL, "format", "output"},
    {NULL, "host", "server"},
    {NULL, "json", "output"},
};

#define N_OF(array) (sizeof(array) / sizeof(array)[0])

const char *synonym_of_command(const char *first, const char *second)
{
	for (size_t i = 0; i < N_OF(commands); i++)
		if (!strcmp(commands[i].word, first) &&
		    (!commands[i].second || (second && !strcmp(commands[i].second, second))))
			return commands[i].meant;
	return NULL;
}

const char *synonym_of_verb(const char *verb)
{
	for (size_t i = 0; i < N_OF(verbs); i++)
		if (!strcmp(verbs[i].verb, verb))
			return verbs[i].meant;
	return NULL;
}

const char *synonym_of_option(const char *command, const char *name)
{
	for (size_t i = 0; i < N_OF(options); i++)
		if (!strcmp(options[i].name, name) &&
		    (!options[i].command || !strcmp(options[i].command, command)))
			return options[i].meant;
	return NULL;
}
