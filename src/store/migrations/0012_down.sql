-- SPDX-License-Identifier: Apache-2.0
-- Back: only schedules own tasks. What others own is set aside and becomes nobody's, and a checksum that covers its
-- owner fits no more.
DROP TABLE IF EXISTS aside_12_task;
CREATE TABLE aside_12_task (id INTEGER PRIMARY KEY, owner_kind INTEGER, owner INTEGER, owner_part INTEGER);
INSERT INTO aside_12_task SELECT id, owner_kind, owner, owner_part FROM task WHERE owner_kind <> 0;
UPDATE task SET owner = 0, owner_part = 0, spec_sum = NULL WHERE owner_kind <> 0;
DROP INDEX task_owner;
DROP INDEX task_owner_live;
ALTER TABLE task DROP COLUMN owner_kind;
ALTER TABLE task RENAME COLUMN owner TO schedule;
ALTER TABLE task RENAME COLUMN owner_part TO tick_s;
CREATE INDEX task_schedule ON task (schedule) WHERE schedule > 0;
CREATE INDEX task_schedule_live ON task (schedule)
	WHERE schedule > 0 AND status <= 0 AND status NOT IN (-3, -5, -6);
