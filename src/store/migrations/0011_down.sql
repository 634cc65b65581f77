-- SPDX-License-Identifier: Apache-2.0
-- Back: a retry counts from 1 again, so that what is left of a task's attempts stays. A checksum over both fits no more.
-- How many there were before is set aside.
DROP TABLE IF EXISTS aside_11_task;
CREATE TABLE aside_11_task (id INTEGER PRIMARY KEY, attempts_before INTEGER);
INSERT INTO aside_11_task SELECT id, attempts_before FROM task WHERE attempts_before <> 0;
UPDATE task SET attempt = attempt - attempts_before, state_sum = NULL WHERE attempts_before <> 0;
ALTER TABLE task DROP COLUMN attempts_before;
