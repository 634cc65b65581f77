-- SPDX-License-Identifier: Apache-2.0
-- Back: jobs of groups are in the indexes of owned tasks.
DROP INDEX task_owner;
CREATE INDEX task_owner ON task (owner) WHERE owner > 0;
DROP INDEX task_owner_live;
CREATE INDEX task_owner_live ON task (owner)
	WHERE owner > 0 AND status <= 0 AND status <> -3 AND status <> -5 AND status <> -6;
