-- SPDX-License-Identifier: Apache-2.0
-- Back: names, submitters and deeds are set aside, and checksums that cover them fit no more.
DROP TABLE IF EXISTS aside_15_task;
CREATE TABLE aside_15_task (id INTEGER PRIMARY KEY, name TEXT, actor TEXT, deeds TEXT);
INSERT INTO aside_15_task SELECT id, name, actor, deeds FROM task
	WHERE name IS NOT NULL OR actor IS NOT NULL OR deeds IS NOT NULL;
UPDATE task SET spec_sum = NULL WHERE name IS NOT NULL OR actor IS NOT NULL;
UPDATE task SET output_sum = NULL WHERE deeds IS NOT NULL;
DROP INDEX task_name;
ALTER TABLE task DROP COLUMN name;
ALTER TABLE task DROP COLUMN actor;
ALTER TABLE task DROP COLUMN deeds;
