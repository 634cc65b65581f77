-- SPDX-License-Identifier: Apache-2.0
-- Which workers may hold starts that a volatile server did not write down. Of before nobody knows, so all who are
-- not lost may. A checksum is over what was written: these rows are believed until they are written again.
ALTER TABLE worker ADD COLUMN unwritten INTEGER NOT NULL DEFAULT 0;
UPDATE worker SET unwritten = 1, sum = NULL
	WHERE state <> 3 AND EXISTS (SELECT 1 FROM meta WHERE name = 'volatile' AND CAST(value AS TEXT) LIKE '% open%');
