-- SPDX-License-Identifier: Apache-2.0
-- Below the first schema there is nothing: an empty database remains.
DROP TABLE stat;
DROP TABLE meta;
DROP TABLE idem;
DROP TABLE event;
DROP TABLE worker;
DROP TABLE queue;
DROP TABLE output;
DROP TABLE task_body;
DROP TABLE task;
