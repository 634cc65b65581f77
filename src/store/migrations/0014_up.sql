-- SPDX-License-Identifier: Apache-2.0
-- Batches have rows and ids of their own. A batch from before has none: its id goes on being that of its first task.
-- Their tasks have ids in (id, last_task], so that they are found without an index that every task would pay for.
CREATE TABLE IF NOT EXISTS aside_task_batch (
	id INTEGER PRIMARY KEY,
	name TEXT,
	ctime_ms INTEGER NOT NULL,
	actor TEXT,
	n_tasks INTEGER NOT NULL,
	last_task INTEGER NOT NULL,
	n_gone INTEGER NOT NULL,
	sum INTEGER,
	state_sum INTEGER
);
ALTER TABLE aside_task_batch RENAME TO task_batch;
CREATE INDEX task_batch_name ON task_batch (name, id) WHERE name IS NOT NULL;
-- Those that were set aside on the way down are back, as far as there still are tasks of them; who joined or removed
-- tasks meanwhile did not count them.
UPDATE task_batch SET n_tasks = max(n_tasks, t.n), n_gone = max(n_tasks, t.n) - t.n,
	last_task = max(last_task, t.last), state_sum = NULL
	FROM (SELECT batch, count(*) AS n, max(id) AS last FROM task
		WHERE (SELECT count(*) FROM task_batch) > 0 AND batch > 0 GROUP BY batch) t
	WHERE t.batch = task_batch.id AND (n_gone <> n_tasks - t.n OR last_task < t.last);
DELETE FROM task_batch WHERE NOT EXISTS
	(SELECT 1 FROM task NOT INDEXED WHERE task.id > task_batch.id AND task.id <= last_task AND batch = task_batch.id);
