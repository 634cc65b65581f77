-- SPDX-License-Identifier: Apache-2.0
-- Back: the conditions of two indexes as lists.
DROP INDEX task_key;
CREATE INDEX task_key ON task (queue, unique_key, id)
	WHERE unique_key IS NOT NULL AND status <= 0 AND status NOT IN (-3, -5, -6);
DROP INDEX task_owner_live;
CREATE INDEX task_owner_live ON task (owner)
	WHERE owner > 0 AND status <= 0 AND status NOT IN (-3, -5, -6);
