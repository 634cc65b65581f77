-- SPDX-License-Identifier: Apache-2.0
-- A task says whether its times had to be moved to what is possible by the server's clock. Added at the
-- end, so that no row is rewritten however many there are.
ALTER TABLE task ADD COLUMN times_doubtful INTEGER NOT NULL DEFAULT 0;
-- What was set aside on the way down, of attempts that are still the last.
CREATE TABLE IF NOT EXISTS aside_5_task (id INTEGER PRIMARY KEY, token INTEGER, times_doubtful INTEGER);
UPDATE task SET times_doubtful = a.times_doubtful
	FROM aside_5_task a WHERE a.id = task.id AND a.token = task.token;
DROP TABLE aside_5_task;
