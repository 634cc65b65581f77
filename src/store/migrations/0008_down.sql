-- SPDX-License-Identifier: Apache-2.0
-- Back: checksums are lost (src/store/sql/leaving.c): an older program changes rows and not their sums, so they could not be
-- told from damage later.
ALTER TABLE task DROP COLUMN spec_sum;
ALTER TABLE task DROP COLUMN state_sum;
ALTER TABLE task DROP COLUMN body_sum;
ALTER TABLE task DROP COLUMN output_sum;
ALTER TABLE queue DROP COLUMN sum;
ALTER TABLE queue DROP COLUMN state_sum;
ALTER TABLE schedule DROP COLUMN sum;
ALTER TABLE schedule DROP COLUMN state_sum;
ALTER TABLE output DROP COLUMN sum;
ALTER TABLE worker DROP COLUMN sum;
ALTER TABLE event DROP COLUMN sum;
ALTER TABLE idem DROP COLUMN sum;
ALTER TABLE meta DROP COLUMN sum;
ALTER TABLE tick DROP COLUMN sum;
ALTER TABLE stat DROP COLUMN sum;
ALTER TABLE token DROP COLUMN sum;
