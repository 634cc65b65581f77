-- SPDX-License-Identifier: Apache-2.0
-- Back: who may hold unwritten starts is set aside. A checksum that covers it fits no more.
DROP TABLE IF EXISTS aside_10_worker;
CREATE TABLE aside_10_worker (id INTEGER PRIMARY KEY, instance INTEGER, unwritten INTEGER);
INSERT INTO aside_10_worker SELECT id, instance, unwritten FROM worker WHERE unwritten <> 0;
UPDATE worker SET sum = NULL WHERE unwritten <> 0;
ALTER TABLE worker DROP COLUMN unwritten;
