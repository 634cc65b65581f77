-- SPDX-License-Identifier: Apache-2.0
-- Jobs of groups leave the indexes of owned tasks: their ids are those behind their group's, so nobody needs an index to
-- find them.
DROP INDEX task_owner;
CREATE INDEX task_owner ON task (owner) WHERE owner > 0 AND owner_kind <> 4;
DROP INDEX task_owner_live;
CREATE INDEX task_owner_live ON task (owner)
	WHERE owner > 0 AND owner_kind <> 4 AND status <= 0 AND status <> -3 AND status <> -5 AND status <> -6;
