-- SPDX-License-Identifier: Apache-2.0
-- Back: tokens are set aside, and whoever has one is not admitted until they are back. Their ids are not given again.
UPDATE stat SET n_tasks = n_tasks + (SELECT count(*) FROM task WHERE id > last_id),
	last_id = max(last_id, (SELECT ifnull(max(id), 0) FROM task), (SELECT ifnull(max(id), 0) FROM token));
DROP TABLE IF EXISTS aside_token;
ALTER TABLE token RENAME TO aside_token;
