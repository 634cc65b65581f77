-- SPDX-License-Identifier: Apache-2.0
-- A task's name, who submitted it, and what operators did to it. Tasks of before have none of these, and every checksum
-- fits.
ALTER TABLE task ADD COLUMN name TEXT;
ALTER TABLE task ADD COLUMN actor TEXT;
ALTER TABLE task ADD COLUMN deeds TEXT;
CREATE INDEX task_name ON task (name) WHERE name IS NOT NULL;
-- What was set aside on the way down: all of it is of the past, and stays true.
CREATE TABLE IF NOT EXISTS aside_15_task (id INTEGER PRIMARY KEY, name TEXT, actor TEXT, deeds TEXT);
UPDATE task SET name = a.name, actor = a.actor, spec_sum = NULL
	FROM aside_15_task a WHERE a.id = task.id AND (a.name IS NOT NULL OR a.actor IS NOT NULL);
UPDATE task SET deeds = a.deeds, output_sum = NULL
	FROM aside_15_task a WHERE a.id = task.id AND a.deeds IS NOT NULL;
DROP TABLE aside_15_task;
