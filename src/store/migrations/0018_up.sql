-- SPDX-License-Identifier: Apache-2.0
-- Groups, and the pieces of their graphs. Those that were set aside on the way down are back, with the tasks that are
-- their jobs; of these some may have been changed, or be gone, as after a time without a server.
CREATE TABLE IF NOT EXISTS aside_groups (
	id INTEGER PRIMARY KEY,
	state INTEGER NOT NULL,
	n_built INTEGER NOT NULL,
	n_failed INTEGER NOT NULL,
	n_lost INTEGER NOT NULL,
	n_skipped INTEGER NOT NULL,
	n_cancelled INTEGER NOT NULL,
	mtime_ms INTEGER NOT NULL,
	dispatched_ms INTEGER NOT NULL,
	ended_ms INTEGER NOT NULL,
	reason TEXT,
	name TEXT,
	policy INTEGER NOT NULL,
	n_jobs INTEGER NOT NULL,
	n_edges INTEGER NOT NULL,
	n_chunks INTEGER NOT NULL,
	ctime_ms INTEGER NOT NULL,
	actor TEXT,
	sum INTEGER,
	state_sum INTEGER
);
ALTER TABLE aside_groups RENAME TO groups;
CREATE TABLE IF NOT EXISTS aside_group_graph (
	group_id INTEGER NOT NULL,
	number INTEGER NOT NULL,
	data BLOB,
	sum INTEGER,
	PRIMARY KEY (group_id, number)
) WITHOUT ROWID;
ALTER TABLE aside_group_graph RENAME TO group_graph;
CREATE TABLE IF NOT EXISTS aside_18_task (id INTEGER PRIMARY KEY, owner INTEGER, owner_part INTEGER);
UPDATE task SET owner_kind = 4, owner = a.owner, owner_part = a.owner_part, spec_sum = NULL
	FROM aside_18_task a WHERE a.id = task.id;
DROP TABLE aside_18_task;
