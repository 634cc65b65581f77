-- SPDX-License-Identifier: Apache-2.0
-- Back: no input comes bit by bit. What there is of it is set aside, and which tasks read it. A checksum that covers
-- that fits no more.
DROP TABLE IF EXISTS aside_streamed_task;
CREATE TABLE aside_streamed_task (id INTEGER PRIMARY KEY, streamed INTEGER);
INSERT INTO aside_streamed_task SELECT id, streamed FROM task WHERE streamed <> 0;
UPDATE task SET spec_sum = NULL WHERE streamed <> 0;
ALTER TABLE task DROP COLUMN streamed;
DROP TABLE IF EXISTS aside_input;
ALTER TABLE input RENAME TO aside_input;
DROP TABLE IF EXISTS aside_input_part;
ALTER TABLE input_part RENAME TO aside_input_part;
