-- SPDX-License-Identifier: Apache-2.0
-- Back: schedules of groups are set aside with their ticks, and so are groups whose jobs are not known yet. The ids of
-- those jobs, and of what is set aside, are not given to others meanwhile. Other groups of schedules stay; that they are
-- is set aside.
UPDATE stat SET n_tasks = n_tasks + (SELECT count(*) FROM task WHERE id > last_id),
	last_id = max(last_id, (SELECT ifnull(max(id), 0) FROM task), (SELECT ifnull(max(id), 0) FROM schedule),
		(SELECT ifnull(max(id), -100000) + 100000 FROM groups WHERE state = 0 AND schedule <> 0)),
	sum = NULL;
DROP TABLE IF EXISTS aside_23_schedule;
DROP TABLE IF EXISTS aside_23_tick;
DROP TABLE IF EXISTS aside_23_owed;
DROP TABLE IF EXISTS aside_23_groups;
CREATE TABLE aside_23_schedule AS SELECT * FROM schedule WHERE group_text IS NOT NULL;
CREATE TABLE aside_23_tick AS SELECT * FROM tick WHERE schedule IN (SELECT id FROM aside_23_schedule);
CREATE TABLE aside_23_owed AS SELECT * FROM groups WHERE state = 0 AND schedule <> 0;
DELETE FROM tick WHERE schedule IN (SELECT id FROM aside_23_schedule);
DELETE FROM schedule WHERE group_text IS NOT NULL;
DELETE FROM groups WHERE state = 0 AND schedule <> 0;
CREATE TABLE aside_23_groups (id INTEGER PRIMARY KEY, schedule INTEGER, tick_s INTEGER);
INSERT INTO aside_23_groups SELECT id, schedule, tick_s FROM groups WHERE schedule <> 0;
UPDATE groups SET sum = NULL WHERE schedule <> 0;
ALTER TABLE groups DROP COLUMN tick_s;
ALTER TABLE groups DROP COLUMN schedule;
ALTER TABLE schedule DROP COLUMN group_text;
