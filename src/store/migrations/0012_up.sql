-- SPDX-License-Identifier: Apache-2.0
-- A task has an owner: the object that submitted it, of which kind that is, and for which part of it. So far only
-- schedules own tasks, and their kind is 0. Checksums go by the old names: see summed_as in model/row.h.
DROP INDEX task_schedule;
DROP INDEX task_schedule_live;
ALTER TABLE task RENAME COLUMN schedule TO owner;
ALTER TABLE task RENAME COLUMN tick_s TO owner_part;
ALTER TABLE task ADD COLUMN owner_kind INTEGER NOT NULL DEFAULT 0;
CREATE INDEX task_owner ON task (owner) WHERE owner > 0;
CREATE INDEX task_owner_live ON task (owner)
	WHERE owner > 0 AND status <= 0 AND status NOT IN (-3, -5, -6);
-- What was set aside on the way down.
CREATE TABLE IF NOT EXISTS aside_12_task (id INTEGER PRIMARY KEY, owner_kind INTEGER, owner INTEGER, owner_part INTEGER);
UPDATE task SET owner_kind = a.owner_kind, owner = a.owner, owner_part = a.owner_part, spec_sum = NULL
	FROM aside_12_task a WHERE a.id = task.id;
DROP TABLE aside_12_task;
