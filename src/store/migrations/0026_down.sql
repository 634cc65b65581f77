-- SPDX-License-Identifier: Apache-2.0
-- Back: services, their revisions and instances, and domains are set aside. Their starts stay, as if somebody had
-- submitted them, and run on. When a drain is over is set aside. A checksum that covers any of this fits no more. No id
-- is given again.
UPDATE stat SET n_tasks = n_tasks + (SELECT count(*) FROM task WHERE id > last_id),
	last_id = max(last_id, (SELECT ifnull(max(id), 0) FROM task), (SELECT ifnull(max(id), 0) FROM domain),
		(SELECT ifnull(max(id), 0) FROM service)),
	sum = NULL;
DROP TABLE IF EXISTS aside_26_worker;
CREATE TABLE aside_26_worker (id INTEGER PRIMARY KEY, drain_until_ms INTEGER);
INSERT INTO aside_26_worker SELECT id, drain_until_ms FROM worker WHERE drain_until_ms <> 0;
UPDATE worker SET sum = NULL WHERE drain_until_ms <> 0;
ALTER TABLE worker DROP COLUMN drain_until_ms;
DROP TABLE IF EXISTS aside_26_task;
CREATE TABLE aside_26_task (id INTEGER PRIMARY KEY, owner INTEGER, owner_part INTEGER);
INSERT INTO aside_26_task SELECT id, owner, owner_part FROM task WHERE owner_kind = 7 AND owner <> 0;
UPDATE task SET owner_kind = 0, owner = 0, owner_part = 0, spec_sum = NULL WHERE owner_kind = 7 AND owner <> 0;
DROP TABLE IF EXISTS aside_instance;
ALTER TABLE instance RENAME TO aside_instance;
DROP TABLE IF EXISTS aside_revision;
ALTER TABLE revision RENAME TO aside_revision;
DROP TABLE IF EXISTS aside_service;
ALTER TABLE service RENAME TO aside_service;
DROP TABLE IF EXISTS aside_domain;
ALTER TABLE domain RENAME TO aside_domain;
