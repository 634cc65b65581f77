-- SPDX-License-Identifier: Apache-2.0
-- Back: schedules and their ticks are forgotten; their tasks stay, as if somebody had submitted them.
-- The id of a forgotten schedule is not given again.
UPDATE stat SET n_tasks = n_tasks + (SELECT count(*) FROM task WHERE id > last_id),
	last_id = max(last_id, (SELECT ifnull(max(id), 0) FROM task), (SELECT ifnull(max(id), 0) FROM schedule));
DROP INDEX task_schedule_live;
DROP INDEX task_schedule;
ALTER TABLE task DROP COLUMN tick_s;
ALTER TABLE task DROP COLUMN schedule;
DROP TABLE tick;
DROP TABLE schedule;
