-- SPDX-License-Identifier: Apache-2.0
-- Back: groups and their graphs are set aside. Their jobs stay, as if somebody had submitted them: those that wait for
-- what they need are held back. A checksum that covers an owner fits no more. No id is given again.
UPDATE stat SET n_tasks = n_tasks + (SELECT count(*) FROM task WHERE id > last_id),
	last_id = max(last_id, (SELECT ifnull(max(id), 0) FROM task), (SELECT ifnull(max(id), 0) FROM groups)),
	sum = NULL;
DROP TABLE IF EXISTS aside_18_task;
CREATE TABLE aside_18_task (id INTEGER PRIMARY KEY, owner INTEGER, owner_part INTEGER);
INSERT INTO aside_18_task SELECT id, owner, owner_part FROM task WHERE owner_kind = 4 AND owner <> 0;
UPDATE task SET owner_kind = 0, owner = 0, owner_part = 0, spec_sum = NULL WHERE owner_kind = 4 AND owner <> 0;
DROP TABLE IF EXISTS aside_group_graph;
ALTER TABLE group_graph RENAME TO aside_group_graph;
DROP TABLE IF EXISTS aside_groups;
ALTER TABLE groups RENAME TO aside_groups;
