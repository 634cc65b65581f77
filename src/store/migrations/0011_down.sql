-- SPDX-License-Identifier: Apache-2.0
-- Back: a retry counts from 1 again, so that what is left of a task's attempts stays. A checksum over both fits no more.
UPDATE task SET attempt = attempt - attempts_before, state_sum = NULL WHERE attempts_before <> 0;
ALTER TABLE task DROP COLUMN attempts_before;
