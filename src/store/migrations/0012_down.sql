-- SPDX-License-Identifier: Apache-2.0
-- Back: only schedules own tasks. Others become nobody's, and a checksum that covers their owner fits no more.
UPDATE task SET owner = 0, owner_part = 0, spec_sum = NULL WHERE owner_kind <> 0;
DROP INDEX task_owner;
DROP INDEX task_owner_live;
ALTER TABLE task DROP COLUMN owner_kind;
ALTER TABLE task RENAME COLUMN owner TO schedule;
ALTER TABLE task RENAME COLUMN owner_part TO tick_s;
CREATE INDEX task_schedule ON task (schedule) WHERE schedule > 0;
CREATE INDEX task_schedule_live ON task (schedule)
	WHERE schedule > 0 AND status <= 0 AND status NOT IN (-3, -5, -6);
