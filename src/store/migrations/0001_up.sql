-- SPDX-License-Identifier: Apache-2.0
-- The first schema. The order of a task's columns and the choice of indexes were measured:
-- see docs/decisions/0002-sqlite-layout.md.
CREATE TABLE task (
	id INTEGER PRIMARY KEY,
	status INTEGER NOT NULL,
	queue INTEGER NOT NULL,
	rank INTEGER NOT NULL,
	due_ms INTEGER NOT NULL,
	unique_key TEXT,
	batch INTEGER NOT NULL,
	worker INTEGER NOT NULL,
	ended_ms INTEGER NOT NULL,
	labels TEXT,
	ctime_ms INTEGER NOT NULL,
	mtime_ms INTEGER NOT NULL,
	priority INTEGER NOT NULL,
	max_attempts INTEGER NOT NULL,
	run_after_ms INTEGER NOT NULL,
	timeout_ms INTEGER NOT NULL,
	backoff_ms INTEGER NOT NULL,
	backoff_max_ms INTEGER NOT NULL,
	attempt INTEGER NOT NULL,
	token INTEGER NOT NULL,
	instance INTEGER NOT NULL,
	wish INTEGER NOT NULL,
	exit_code INTEGER NOT NULL,
	signal INTEGER NOT NULL,
	claimed_ms INTEGER NOT NULL,
	started_ms INTEGER NOT NULL,
	output_where INTEGER NOT NULL,
	stdout_bytes INTEGER NOT NULL,
	stderr_bytes INTEGER NOT NULL,
	stdout_dropped INTEGER NOT NULL,
	stderr_dropped INTEGER NOT NULL,
	reason TEXT,
	body TEXT,
	history TEXT,
	stdout BLOB,
	stderr BLOB
);

-- Only live tasks are in an index: ten million finished ones cost nothing here.
CREATE INDEX task_ready ON task (queue, rank, id) WHERE status = -2 AND due_ms <= 0;
CREATE INDEX task_due ON task (queue, due_ms, id) WHERE status = -2 AND due_ms > 0;
-- Dispatched and held ones together: each further index costs every write of the hot table.
CREATE INDEX task_live ON task (status, queue)
	WHERE status < -6 OR status = -4 OR status = -1 OR status = 0;
CREATE INDEX task_key ON task (queue, unique_key, id)
	WHERE unique_key IS NOT NULL AND status <= 0 AND status NOT IN (-3, -5, -6);

-- Bodies too long to be written again with every change of state.
CREATE TABLE task_body (
	id INTEGER PRIMARY KEY,
	body TEXT NOT NULL
);

CREATE TABLE output (
	task INTEGER NOT NULL,
	token INTEGER NOT NULL,
	stream INTEGER NOT NULL,
	at INTEGER NOT NULL,
	raw_bytes INTEGER NOT NULL,
	codec INTEGER NOT NULL,
	data BLOB NOT NULL,
	PRIMARY KEY (task, token, stream, at)
);

CREATE TABLE queue (
	id INTEGER PRIMARY KEY,
	name TEXT,
	plugin TEXT,
	threads INTEGER NOT NULL,
	run_order INTEGER NOT NULL,
	paused INTEGER NOT NULL,
	pause_reason TEXT,
	paused_until_ms INTEGER NOT NULL,
	timeout_ms INTEGER NOT NULL,
	max_attempts INTEGER NOT NULL,
	backoff_ms INTEGER NOT NULL,
	backoff_max_ms INTEGER NOT NULL,
	exit_codes INTEGER NOT NULL,
	env TEXT,
	output_mode INTEGER NOT NULL,
	output_max INTEGER NOT NULL,
	ctime_ms INTEGER NOT NULL,
	mtime_ms INTEGER NOT NULL,
	version INTEGER NOT NULL,
	n_succeeded INTEGER NOT NULL,
	n_failed INTEGER NOT NULL,
	n_other INTEGER NOT NULL
);

CREATE TABLE worker (
	id INTEGER PRIMARY KEY,
	shard TEXT,
	instance INTEGER NOT NULL,
	started_ms INTEGER NOT NULL,
	lock TEXT,
	host TEXT,
	zone TEXT,
	target TEXT,
	version_text TEXT,
	labels TEXT,
	plugins TEXT,
	active_queues TEXT,
	ignore_queues TEXT,
	maxthreads INTEGER NOT NULL,
	maxthreads_set INTEGER NOT NULL,
	maxthreads_is_set INTEGER NOT NULL,
	state INTEGER NOT NULL,
	first_seen_ms INTEGER NOT NULL,
	last_seen_ms INTEGER NOT NULL,
	version INTEGER NOT NULL
);

CREATE TABLE event (
	seq INTEGER PRIMARY KEY,
	time_ms INTEGER NOT NULL,
	kind TEXT,
	subject TEXT,
	actor TEXT,
	detail TEXT
);
CREATE INDEX event_time ON event (time_ms);

CREATE TABLE idem (
	idem_key TEXT PRIMARY KEY,
	fingerprint INTEGER NOT NULL,
	time_ms INTEGER NOT NULL,
	result BLOB
);
CREATE INDEX idem_time ON idem (time_ms);

CREATE TABLE meta (
	name TEXT PRIMARY KEY,
	value BLOB
) WITHOUT ROWID;

-- One row. What cannot be read off the tables once rows were deleted, and how many tasks there
-- are, which SQLite could only count by walking all of them.
CREATE TABLE stat (
	one INTEGER PRIMARY KEY CHECK (one = 1),
	last_id INTEGER NOT NULL,
	last_event INTEGER NOT NULL,
	n_tasks INTEGER NOT NULL
);
INSERT INTO stat VALUES (1, 0, 0, 0);
