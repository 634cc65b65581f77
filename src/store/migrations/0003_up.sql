-- SPDX-License-Identifier: Apache-2.0
-- A queue says how its processes are run; a task keeps what its last attempt used (four numbers in one
-- text: src/store/usage_text.h) and left as its result. Added at the end, so that no row is rewritten
-- however many there are.
ALTER TABLE queue ADD COLUMN run TEXT;
ALTER TABLE task ADD COLUMN usage TEXT;
ALTER TABLE task ADD COLUMN result BLOB;
-- What was set aside on the way down, of attempts that are still the last.
CREATE TABLE IF NOT EXISTS aside_3_queue (id INTEGER PRIMARY KEY, run TEXT);
UPDATE queue SET run = a.run FROM aside_3_queue a WHERE a.id = queue.id;
DROP TABLE aside_3_queue;
CREATE TABLE IF NOT EXISTS aside_3_task
	(id INTEGER PRIMARY KEY, token INTEGER, ended_ms INTEGER, usage TEXT, result BLOB);
UPDATE task SET usage = a.usage, result = a.result
	FROM aside_3_task a WHERE a.id = task.id AND a.token = task.token AND a.ended_ms = task.ended_ms;
DROP TABLE aside_3_task;
