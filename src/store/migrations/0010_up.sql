-- SPDX-License-Identifier: Apache-2.0
-- Which workers may hold starts that a volatile server did not write down. Of before nobody knows, so all who are
-- not lost may. A checksum is over what was written: these rows are believed until they are written again.
ALTER TABLE worker ADD COLUMN unwritten INTEGER NOT NULL DEFAULT 0;
UPDATE worker SET unwritten = 1, sum = NULL
	WHERE state <> 3 AND EXISTS (SELECT 1 FROM meta WHERE name = 'volatile' AND CAST(value AS TEXT) LIKE '% open%');
-- What was set aside on the way down, if it is still the same process. If in doubt, it may hold some.
CREATE TABLE IF NOT EXISTS aside_10_worker (id INTEGER PRIMARY KEY, instance INTEGER, unwritten INTEGER);
UPDATE worker SET unwritten = a.unwritten, sum = NULL
	FROM aside_10_worker a WHERE a.id = worker.id AND a.instance = worker.instance;
DROP TABLE aside_10_worker;
