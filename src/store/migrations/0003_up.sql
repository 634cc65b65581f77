-- SPDX-License-Identifier: Apache-2.0
-- A queue says how its processes are run; a task keeps what its last attempt used and left as result.
-- Added at the end, so that not a row is rewritten however many there are.
ALTER TABLE queue ADD COLUMN run TEXT;
ALTER TABLE task ADD COLUMN measured INTEGER NOT NULL DEFAULT 0;
ALTER TABLE task ADD COLUMN user_us INTEGER NOT NULL DEFAULT 0;
ALTER TABLE task ADD COLUMN system_us INTEGER NOT NULL DEFAULT 0;
ALTER TABLE task ADD COLUMN peak_memory INTEGER NOT NULL DEFAULT 0;
ALTER TABLE task ADD COLUMN oom_kills INTEGER NOT NULL DEFAULT 0;
ALTER TABLE task ADD COLUMN result BLOB;
