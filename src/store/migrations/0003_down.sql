-- SPDX-License-Identifier: Apache-2.0
-- Back: settings of processes, usage and results are forgotten.
ALTER TABLE task DROP COLUMN result;
ALTER TABLE task DROP COLUMN oom_kills;
ALTER TABLE task DROP COLUMN peak_memory;
ALTER TABLE task DROP COLUMN system_us;
ALTER TABLE task DROP COLUMN user_us;
ALTER TABLE task DROP COLUMN measured;
ALTER TABLE queue DROP COLUMN run;
