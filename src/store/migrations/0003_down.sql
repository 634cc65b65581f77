-- SPDX-License-Identifier: Apache-2.0
-- Back: settings of processes, usage and results are set aside.
DROP TABLE IF EXISTS aside_3_queue;
CREATE TABLE aside_3_queue (id INTEGER PRIMARY KEY, run TEXT);
INSERT INTO aside_3_queue SELECT id, run FROM queue WHERE run IS NOT NULL;
DROP TABLE IF EXISTS aside_3_task;
CREATE TABLE aside_3_task (id INTEGER PRIMARY KEY, token INTEGER, ended_ms INTEGER, usage TEXT, result BLOB);
INSERT INTO aside_3_task SELECT id, token, ended_ms, usage, result FROM task
	WHERE usage IS NOT NULL OR result IS NOT NULL;
ALTER TABLE task DROP COLUMN result;
ALTER TABLE task DROP COLUMN usage;
ALTER TABLE queue DROP COLUMN run;
