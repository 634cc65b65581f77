-- SPDX-License-Identifier: Apache-2.0
-- Back: graphs of packages are set aside. No id is given again.
UPDATE stat SET n_tasks = n_tasks + (SELECT count(*) FROM task WHERE id > last_id),
	last_id = max(last_id, (SELECT ifnull(max(id), 0) FROM task), (SELECT ifnull(max(id), 0) FROM graph)),
	sum = NULL;
DROP TABLE IF EXISTS aside_graph_package;
ALTER TABLE graph_package RENAME TO aside_graph_package;
DROP TABLE IF EXISTS aside_graph;
ALTER TABLE graph RENAME TO aside_graph;
