-- SPDX-License-Identifier: Apache-2.0
-- Series of groups that build the same, and how long each of their jobs took when it was built last. Before this there
-- were none, and every checksum fits.
ALTER TABLE groups ADD COLUMN series TEXT;
CREATE TABLE IF NOT EXISTS aside_21_groups (id INTEGER PRIMARY KEY, series TEXT);
UPDATE groups SET series = a.series, sum = NULL FROM aside_21_groups a WHERE a.id = groups.id;
DROP TABLE aside_21_groups;
CREATE TABLE IF NOT EXISTS aside_built (
	series INTEGER NOT NULL,
	job INTEGER NOT NULL,
	series_name TEXT,
	job_name TEXT,
	duration_ms INTEGER NOT NULL,
	group_id INTEGER NOT NULL,
	task INTEGER NOT NULL,
	time_ms INTEGER NOT NULL,
	sum INTEGER,
	PRIMARY KEY (series, job)
) WITHOUT ROWID;
ALTER TABLE aside_built RENAME TO built;
CREATE INDEX built_time ON built (time_ms);
