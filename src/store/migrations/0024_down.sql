-- SPDX-License-Identifier: Apache-2.0
-- Back: what jobs of series were built from is set aside; it comes back if they have not been built again meanwhile. A
-- checksum that covers it fits no more.
DROP TABLE IF EXISTS aside_24_built;
CREATE TABLE aside_24_built (series INTEGER NOT NULL, job INTEGER NOT NULL, task INTEGER, digest TEXT);
INSERT INTO aside_24_built SELECT series, job, task, digest FROM built WHERE digest IS NOT NULL;
UPDATE built SET sum = NULL WHERE digest IS NOT NULL;
ALTER TABLE built DROP COLUMN digest;
