-- SPDX-License-Identifier: Apache-2.0
-- Back: who left is away, and then lost. Who is drained keeps that in the words of before: it may run no task. A
-- checksum that covers any of this fits no more.
UPDATE worker SET maxthreads_set = 0, maxthreads_is_set = 1 WHERE drained <> 0;
UPDATE worker SET sum = NULL WHERE departed <> 0 OR drained <> 0;
ALTER TABLE worker DROP COLUMN departed;
ALTER TABLE worker DROP COLUMN drained;
ALTER TABLE worker DROP COLUMN drain_reason;
