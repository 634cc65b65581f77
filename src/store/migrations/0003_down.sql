-- SPDX-License-Identifier: Apache-2.0
-- Back: settings of processes, usage and results are forgotten.
ALTER TABLE task DROP COLUMN result;
ALTER TABLE task DROP COLUMN usage;
ALTER TABLE queue DROP COLUMN run;
