-- SPDX-License-Identifier: Apache-2.0
-- Back: rows of batches are set aside; tasks keep their batch's id, by which they are found as before. Ids are not given
-- again.
UPDATE stat SET n_tasks = n_tasks + (SELECT count(*) FROM task WHERE id > last_id),
	last_id = max(last_id, (SELECT ifnull(max(id), 0) FROM task), (SELECT ifnull(max(id), 0) FROM task_batch)),
	sum = NULL;
DROP INDEX task_batch_name;
DROP TABLE IF EXISTS aside_task_batch;
ALTER TABLE task_batch RENAME TO aside_task_batch;
