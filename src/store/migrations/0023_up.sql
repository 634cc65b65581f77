-- SPDX-License-Identifier: Apache-2.0
-- Schedules that trigger groups, and of a group the schedule and its tick. Before this there were none, and every
-- checksum fits. What was set aside is back, unless its name is another's by now.
ALTER TABLE schedule ADD COLUMN group_text TEXT;
ALTER TABLE groups ADD COLUMN schedule INTEGER NOT NULL DEFAULT 0;
ALTER TABLE groups ADD COLUMN tick_s INTEGER NOT NULL DEFAULT 0;
CREATE TABLE IF NOT EXISTS aside_23_schedule AS SELECT * FROM schedule WHERE 0;
CREATE TABLE IF NOT EXISTS aside_23_tick AS SELECT * FROM tick WHERE 0;
CREATE TABLE IF NOT EXISTS aside_23_owed AS SELECT * FROM groups WHERE 0;
CREATE TABLE IF NOT EXISTS aside_23_groups (id INTEGER PRIMARY KEY, schedule INTEGER, tick_s INTEGER);
INSERT INTO schedule SELECT * FROM aside_23_schedule WHERE name NOT IN (SELECT name FROM schedule);
INSERT INTO tick SELECT * FROM aside_23_tick WHERE schedule IN (SELECT id FROM schedule);
INSERT INTO groups SELECT * FROM aside_23_owed;
UPDATE groups SET schedule = a.schedule, tick_s = a.tick_s, sum = NULL FROM aside_23_groups a WHERE a.id = groups.id;
DROP TABLE aside_23_schedule;
DROP TABLE aside_23_tick;
DROP TABLE aside_23_owed;
DROP TABLE aside_23_groups;
