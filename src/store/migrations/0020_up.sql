-- SPDX-License-Identifier: Apache-2.0
-- Of a group that is what is left of another: which. Before this there were none, and every checksum fits.
ALTER TABLE groups ADD COLUMN retried_of INTEGER NOT NULL DEFAULT 0;
CREATE TABLE IF NOT EXISTS aside_20_groups (id INTEGER PRIMARY KEY, retried_of INTEGER);
UPDATE groups SET retried_of = a.retried_of, sum = NULL FROM aside_20_groups a WHERE a.id = groups.id;
DROP TABLE aside_20_groups;
