-- SPDX-License-Identifier: Apache-2.0
-- Back: who left is away, and then lost. Who is drained keeps that in the words of before: it may run no task. Both are
-- set aside. A checksum that covers any of this fits no more.
DROP TABLE IF EXISTS aside_13_worker;
CREATE TABLE aside_13_worker (id INTEGER PRIMARY KEY, instance INTEGER, departed INTEGER, drained INTEGER,
	drain_reason TEXT, maxthreads_set INTEGER, maxthreads_is_set INTEGER);
INSERT INTO aside_13_worker
	SELECT id, instance, departed, drained, drain_reason, maxthreads_set, maxthreads_is_set
	FROM worker WHERE departed <> 0 OR drained <> 0;
UPDATE worker SET maxthreads_set = 0, maxthreads_is_set = 1 WHERE drained <> 0;
UPDATE worker SET sum = NULL WHERE departed <> 0 OR drained <> 0;
ALTER TABLE worker DROP COLUMN departed;
ALTER TABLE worker DROP COLUMN drained;
ALTER TABLE worker DROP COLUMN drain_reason;
