-- SPDX-License-Identifier: Apache-2.0
-- Back: schedules, their ticks, and which tasks are theirs are set aside; the tasks stay, as if somebody had submitted
-- them. The id of a schedule that is set aside is not given again.
UPDATE stat SET n_tasks = n_tasks + (SELECT count(*) FROM task WHERE id > last_id),
	last_id = max(last_id, (SELECT ifnull(max(id), 0) FROM task), (SELECT ifnull(max(id), 0) FROM schedule));
DROP TABLE IF EXISTS aside_4_task;
CREATE TABLE aside_4_task (id INTEGER PRIMARY KEY, schedule INTEGER, tick_s INTEGER);
INSERT INTO aside_4_task SELECT id, schedule, tick_s FROM task WHERE schedule > 0;
DROP INDEX task_schedule_live;
DROP INDEX task_schedule;
ALTER TABLE task DROP COLUMN tick_s;
ALTER TABLE task DROP COLUMN schedule;
DROP INDEX tick_newest;
DROP INDEX tick_time;
DROP TABLE IF EXISTS aside_tick;
ALTER TABLE tick RENAME TO aside_tick;
DROP TABLE IF EXISTS aside_schedule;
ALTER TABLE schedule RENAME TO aside_schedule;
