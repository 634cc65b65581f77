-- SPDX-License-Identifier: Apache-2.0
-- Back: what groups are left of is set aside. A checksum that covers it fits no more.
DROP TABLE IF EXISTS aside_20_groups;
CREATE TABLE aside_20_groups (id INTEGER PRIMARY KEY, retried_of INTEGER);
INSERT INTO aside_20_groups SELECT id, retried_of FROM groups WHERE retried_of <> 0;
UPDATE groups SET sum = NULL WHERE retried_of <> 0;
ALTER TABLE groups DROP COLUMN retried_of;
