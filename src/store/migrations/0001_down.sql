-- SPDX-License-Identifier: Apache-2.0
-- Below the first schema there is nothing: an empty database remains. What was set aside goes with what it was part of.
DROP TABLE IF EXISTS aside_token;
DROP TABLE IF EXISTS aside_6_worker;
DROP TABLE IF EXISTS aside_10_worker;
DROP TABLE IF EXISTS aside_13_worker;
DROP TABLE IF EXISTS aside_tick;
DROP TABLE IF EXISTS aside_schedule;
DROP TABLE IF EXISTS aside_3_queue;
DROP TABLE IF EXISTS aside_3_task;
DROP TABLE IF EXISTS aside_4_task;
DROP TABLE IF EXISTS aside_5_task;
DROP TABLE IF EXISTS aside_11_task;
DROP TABLE IF EXISTS aside_12_task;
DROP TABLE stat;
DROP TABLE meta;
DROP TABLE idem;
DROP TABLE event;
DROP TABLE worker;
DROP TABLE queue;
DROP TABLE output;
DROP TABLE task_body;
DROP TABLE task;
