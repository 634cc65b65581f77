-- SPDX-License-Identifier: Apache-2.0
-- Which workers said goodbye and had nothing, and which are drained, and why. Before this none was, and every checksum
-- fits.
ALTER TABLE worker ADD COLUMN departed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE worker ADD COLUMN drained INTEGER NOT NULL DEFAULT 0;
ALTER TABLE worker ADD COLUMN drain_reason TEXT;
-- What was set aside on the way down: a goodbye is that of one process; a drain is over if somebody has set maxthreads
-- since.
CREATE TABLE IF NOT EXISTS aside_13_worker (id INTEGER PRIMARY KEY, instance INTEGER, departed INTEGER,
	drained INTEGER, drain_reason TEXT, maxthreads_set INTEGER, maxthreads_is_set INTEGER);
UPDATE worker SET departed = a.departed, sum = NULL
	FROM aside_13_worker a WHERE a.id = worker.id AND a.instance = worker.instance;
UPDATE worker SET drained = a.drained, drain_reason = a.drain_reason, maxthreads_set = a.maxthreads_set,
	maxthreads_is_set = a.maxthreads_is_set, sum = NULL
	FROM aside_13_worker a WHERE a.id = worker.id AND a.drained <> 0
	AND worker.maxthreads_is_set = 1 AND worker.maxthreads_set = 0;
DROP TABLE aside_13_worker;
