-- SPDX-License-Identifier: Apache-2.0
-- Back: series of groups, and what is remembered of them, are set aside. A checksum that covers a series fits no more.
DROP TABLE IF EXISTS aside_21_groups;
CREATE TABLE aside_21_groups (id INTEGER PRIMARY KEY, series TEXT);
INSERT INTO aside_21_groups SELECT id, series FROM groups WHERE series IS NOT NULL;
UPDATE groups SET sum = NULL WHERE series IS NOT NULL;
ALTER TABLE groups DROP COLUMN series;
DROP INDEX built_time;
DROP TABLE IF EXISTS aside_built;
ALTER TABLE built RENAME TO aside_built;
