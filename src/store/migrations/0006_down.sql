-- SPDX-License-Identifier: Apache-2.0
-- Back: the order of a worker's starts was their time. That, and its key, are set aside.
DROP TABLE IF EXISTS aside_6_worker;
CREATE TABLE aside_6_worker (id INTEGER PRIMARY KEY, instance INTEGER, started_ms INTEGER, start INTEGER, link_key TEXT);
INSERT INTO aside_6_worker SELECT id, instance, started_ms, start, link_key FROM worker;
UPDATE worker SET started_ms = start;
ALTER TABLE worker DROP COLUMN link_key;
ALTER TABLE worker DROP COLUMN start;
