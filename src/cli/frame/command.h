/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one table of commands. Dispatch, `reeve help`, man pages, completions and the hints for
 * misspelt commands are all made from it.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "base/options.h"
#include "model/rows/field.h"

struct cli;

enum chapter { CHAPTER_DAILY, CHAPTER_OBJECTS, CHAPTER_SERVICES, CHAPTER_TOOLS, N_CHAPTERS };

enum command_flag {
	COMMAND_HIDDEN = 1,
	COMMAND_ARGV = 2,    /* the first argument ends the options: a command to run follows */
	COMMAND_MIRRORS = 4, /* exit codes are the work's: our own failures are 125 */
	COMMAND_NEEDS_ARG = 8,
	COMMAND_NO_ARGS = 16,
	COMMAND_ANYHOW = 32, /* works also when the configuration is broken */
	COMMAND_EPOCH = 64,  /* takes -o epoch */
	COMMAND_DRAWS = 128, /* takes -o dot and -o svg */
};

#define COMMAND_TABLES_MAX 6

struct command {
	const char *path;    /* "submit", "queue create" */
	const char *summary; /* one line, no full stop */
	const char *args;    /* positional arguments for the usage line; NULL: none */
	const char
	    *about; /* paragraphs for `--help` and the man page; NULL: the summary says all */
	const char *examples; /* "command\twhat it does\n" lines; NULL: none */
	const char *complete; /* kind of its positional arguments */
	const struct option_def *options[COMMAND_TABLES_MAX]; /* beside the global ones */
	enum chapter chapter;
	unsigned flags; /* enum command_flag */
	/* One of the two. A client command returns an exit code, or a negative enum err with the
	   cli's problem set. A shell parses its own words: argv[0] is the one after its name. */
	int (*run)(struct cli *c);
	int (*shell)(int argc, char **argv);
	/* Members that its options set: their words are the help of options without their own, and
	   their choices complete the values. Those of a task need not be said. */
	const struct field *fields;
};

/* Words that complete a kind of value; one without a kind ends a list of them. */
struct completion {
	const char *kind, *words[24];
	const char *const *names; /* instead: the choices of a member, as its object lists them */
	size_t n_names;
};

/* The commands of one noun or folder. */
struct command_table {
	const struct command *rows;
	size_t n;
	const struct completion *completions; /* NULL: none of its own */
};

/* The member that an option of the command sets; NULL: none. */
const struct field *option_member(const struct command *cmd, const struct option_def *d);
/* What an option does, for people: its own words, else its member's. */
const char *option_help(const struct command *cmd, const struct option_def *d);

/* The client's commands, and those that main.c adds. `i` counts over both; NULL past the end. */
void commands_add(const struct command *table, size_t n);
const struct command *command_at(size_t i);
/*
 * The command that words[0..n) begin with: two words before one. *ret_words says how many words
 * its name took.
 */
const struct command *command_find(const char *const *words, size_t n, size_t *ret_words);
/* Several commands begin with this word ("queue"). */
bool command_is_family(const char *word);
/* Fills the problem for words that name no command, with the nearest name as a hint. */
int command_unknown(const char *const *words, size_t n, struct problem *ret_problem);

extern const struct option_def global_options[];
extern const struct option_def output_options[]; /* -o */
extern const struct option_def watch_options[];  /* -w */
extern const struct option_def limit_options[];  /* -n */
/* What a command has that lists things. */
#define LIST_OPTIONS output_options, watch_options, limit_options
extern const struct option_def filter_options[];          /* --state, --queue, --label … */
extern const struct option_def filter_of_options[];       /* the same: what logs are of */
extern const struct option_def task_options[];            /* what a submitted task is given */
extern const struct option_def once_options[];            /* what only a task that comes once has */
extern const struct option_def process_options[];         /* how its processes are run */
extern const struct option_def cron_options[];            /* when: one of three, and its zone */
extern const struct option_def yes_options[];             /* -y */
extern const struct command_table *const client_tables[]; /* NULL ends them */
/* Tasks and events may be asked for by the name of one of these; NULL ends them. */
extern const char *const filter_objects[];
extern const char *const chapter_names[N_CHAPTERS];

#endif
