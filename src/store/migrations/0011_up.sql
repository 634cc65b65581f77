-- SPDX-License-Identifier: Apache-2.0
-- Attempt numbers go on after a retry: of each task, how many attempts there were before the last one. Those that
-- were retried before began again at 1, as if it were their first: so none were before it, and every checksum fits.
ALTER TABLE task ADD COLUMN attempts_before INTEGER NOT NULL DEFAULT 0;
-- What was set aside on the way down: a task that went on since counted from 1, and goes on from where it was.
CREATE TABLE IF NOT EXISTS aside_11_task (id INTEGER PRIMARY KEY, attempts_before INTEGER);
UPDATE task SET attempt = attempt + a.attempts_before, attempts_before = a.attempts_before, state_sum = NULL
	FROM aside_11_task a WHERE a.id = task.id;
DROP TABLE aside_11_task;
