-- SPDX-License-Identifier: Apache-2.0
-- Checksums of rows (src/store/sum.c), one for each group of columns that is written together. Rows from
-- before have none, and are believed until they are written again. Added at the end, so that no row is
-- rewritten however many there are.
ALTER TABLE task ADD COLUMN spec_sum INTEGER;
ALTER TABLE task ADD COLUMN state_sum INTEGER;
ALTER TABLE task ADD COLUMN body_sum INTEGER;
ALTER TABLE task ADD COLUMN output_sum INTEGER;
ALTER TABLE queue ADD COLUMN sum INTEGER;
ALTER TABLE queue ADD COLUMN state_sum INTEGER;
ALTER TABLE schedule ADD COLUMN sum INTEGER;
ALTER TABLE schedule ADD COLUMN state_sum INTEGER;
ALTER TABLE output ADD COLUMN sum INTEGER;
ALTER TABLE worker ADD COLUMN sum INTEGER;
ALTER TABLE event ADD COLUMN sum INTEGER;
ALTER TABLE idem ADD COLUMN sum INTEGER;
ALTER TABLE meta ADD COLUMN sum INTEGER;
ALTER TABLE tick ADD COLUMN sum INTEGER;
ALTER TABLE stat ADD COLUMN sum INTEGER;
ALTER TABLE token ADD COLUMN sum INTEGER;
