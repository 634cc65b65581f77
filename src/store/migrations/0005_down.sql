-- SPDX-License-Identifier: Apache-2.0
-- Back: which times are doubtful is forgotten.
ALTER TABLE task DROP COLUMN times_doubtful;
