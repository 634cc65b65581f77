-- SPDX-License-Identifier: Apache-2.0
-- Standard input that comes bit by bit: which tasks read it, how much there is of each, and its bytes. Before this there
-- was none, and every checksum fits. What was set aside on the way down is back, unless its task has ended since.
ALTER TABLE task ADD COLUMN streamed INTEGER NOT NULL DEFAULT 0;
CREATE TABLE IF NOT EXISTS aside_input (
	task INTEGER PRIMARY KEY,
	queue INTEGER NOT NULL,
	size INTEGER NOT NULL,
	ended INTEGER NOT NULL,
	sum INTEGER
);
ALTER TABLE aside_input RENAME TO input;
CREATE TABLE IF NOT EXISTS aside_input_part (
	task INTEGER NOT NULL,
	at INTEGER NOT NULL,
	data BLOB NOT NULL,
	sum INTEGER,
	PRIMARY KEY (task, at)
);
ALTER TABLE aside_input_part RENAME TO input_part;
CREATE TABLE IF NOT EXISTS aside_streamed_task (id INTEGER PRIMARY KEY, streamed INTEGER);
DELETE FROM input_part WHERE task IN (SELECT id FROM task WHERE status > 0 OR status IN (-3, -5, -6));
DELETE FROM input WHERE task IN (SELECT id FROM task WHERE status > 0 OR status IN (-3, -5, -6));
UPDATE task SET streamed = a.streamed, spec_sum = NULL FROM aside_streamed_task a WHERE a.id = task.id;
DROP TABLE aside_streamed_task;
