-- SPDX-License-Identifier: Apache-2.0
-- Back: the order of a worker's starts was their time.
UPDATE worker SET started_ms = start;
ALTER TABLE worker DROP COLUMN link_key;
ALTER TABLE worker DROP COLUMN start;
