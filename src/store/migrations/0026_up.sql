-- SPDX-License-Identifier: Apache-2.0
-- Services with their revisions and instances, domains, and when a worker's drain is over. Those that were set aside on
-- the way down are back, with the tasks that are their starts; of these some may have been changed, or be gone, as after
-- a time without a server.
CREATE TABLE IF NOT EXISTS aside_domain (
	id INTEGER PRIMARY KEY,
	name TEXT,
	ttl_ms INTEGER NOT NULL,
	fresh_until_ms INTEGER NOT NULL,
	ctime_ms INTEGER NOT NULL,
	mtime_ms INTEGER NOT NULL,
	version INTEGER NOT NULL,
	sum INTEGER
);
ALTER TABLE aside_domain RENAME TO domain;
CREATE TABLE IF NOT EXISTS aside_service (
	id INTEGER PRIMARY KEY,
	deploy_state INTEGER NOT NULL,
	target INTEGER NOT NULL,
	stable INTEGER NOT NULL,
	failed INTEGER NOT NULL,
	deploy_since_ms INTEGER NOT NULL,
	tag INTEGER NOT NULL,
	name TEXT,
	domain TEXT,
	instances INTEGER NOT NULL,
	singleton INTEGER NOT NULL,
	crash_at_once INTEGER NOT NULL,
	crash_stop_at INTEGER NOT NULL,
	crash_wait_ms INTEGER NOT NULL,
	crash_wait_max_ms INTEGER NOT NULL,
	crash_reset_after_ms INTEGER NOT NULL,
	crash_factor INTEGER NOT NULL,
	strategy INTEGER NOT NULL,
	max_surge INTEGER NOT NULL,
	max_unavailable INTEGER NOT NULL,
	canary INTEGER NOT NULL,
	auto_rollback INTEGER NOT NULL,
	min_healthy_ms INTEGER NOT NULL,
	deadline_ms INTEGER NOT NULL,
	queue INTEGER NOT NULL,
	n_ports INTEGER NOT NULL,
	last_revision INTEGER NOT NULL,
	deleting INTEGER NOT NULL,
	ctime_ms INTEGER NOT NULL,
	mtime_ms INTEGER NOT NULL,
	version INTEGER NOT NULL,
	actor TEXT,
	labels TEXT,
	need TEXT,
	needs TEXT,
	annotation TEXT,
	routes TEXT,
	body TEXT,
	sum INTEGER,
	state_sum INTEGER
);
ALTER TABLE aside_service RENAME TO service;
CREATE TABLE IF NOT EXISTS aside_revision (
	service INTEGER NOT NULL,
	number INTEGER NOT NULL,
	time_ms INTEGER NOT NULL,
	outcome INTEGER NOT NULL,
	outcome_ms INTEGER NOT NULL,
	actor TEXT,
	reason TEXT,
	queue INTEGER NOT NULL,
	n_ports INTEGER NOT NULL,
	need TEXT,
	needs TEXT,
	body TEXT,
	sum INTEGER,
	PRIMARY KEY (service, number)
) WITHOUT ROWID;
ALTER TABLE aside_revision RENAME TO revision;
CREATE TABLE IF NOT EXISTS aside_instance (
	service INTEGER NOT NULL,
	idx INTEGER NOT NULL,
	presence INTEGER NOT NULL,
	state INTEGER NOT NULL,
	crash_count INTEGER NOT NULL,
	task INTEGER NOT NULL,
	token INTEGER NOT NULL,
	last_task INTEGER NOT NULL,
	worker INTEGER NOT NULL,
	revision INTEGER NOT NULL,
	tag INTEGER NOT NULL,
	since_ms INTEGER NOT NULL,
	asked_ms INTEGER NOT NULL,
	crashed_at_ms INTEGER NOT NULL,
	ready_ms INTEGER NOT NULL,
	is_up INTEGER NOT NULL,
	is_stopping INTEGER NOT NULL,
	is_surge INTEGER NOT NULL,
	address TEXT,
	ports TEXT,
	crash_reason TEXT,
	place_error TEXT,
	sum INTEGER,
	PRIMARY KEY (service, idx, presence)
) WITHOUT ROWID;
ALTER TABLE aside_instance RENAME TO instance;
CREATE TABLE IF NOT EXISTS aside_26_task (id INTEGER PRIMARY KEY, owner INTEGER, owner_part INTEGER);
UPDATE task SET owner_kind = 7, owner = a.owner, owner_part = a.owner_part, spec_sum = NULL
	FROM aside_26_task a WHERE a.id = task.id;
DROP TABLE aside_26_task;
ALTER TABLE worker ADD COLUMN drain_until_ms INTEGER NOT NULL DEFAULT 0;
CREATE TABLE IF NOT EXISTS aside_26_worker (id INTEGER PRIMARY KEY, drain_until_ms INTEGER);
UPDATE worker SET drain_until_ms = a.drain_until_ms, sum = NULL FROM aside_26_worker a WHERE a.id = worker.id;
DROP TABLE aside_26_worker;
