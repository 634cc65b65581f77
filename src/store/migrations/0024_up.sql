-- SPDX-License-Identifier: Apache-2.0
-- What a job of a series was built from, as a digest. Before this nobody knew, and every checksum fits.
ALTER TABLE built ADD COLUMN digest TEXT;
CREATE TABLE IF NOT EXISTS aside_24_built (series INTEGER NOT NULL, job INTEGER NOT NULL, task INTEGER, digest TEXT);
UPDATE built SET digest = a.digest, sum = NULL FROM aside_24_built a
	WHERE a.series = built.series AND a.job = built.job AND a.task = built.task;
DROP TABLE aside_24_built;
