-- SPDX-License-Identifier: Apache-2.0
-- Back: which times are doubtful is set aside.
DROP TABLE IF EXISTS aside_5_task;
CREATE TABLE aside_5_task (id INTEGER PRIMARY KEY, token INTEGER, times_doubtful INTEGER);
INSERT INTO aside_5_task SELECT id, token, times_doubtful FROM task WHERE times_doubtful <> 0;
ALTER TABLE task DROP COLUMN times_doubtful;
