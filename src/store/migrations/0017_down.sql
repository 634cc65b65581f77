-- SPDX-License-Identifier: Apache-2.0
-- Back: tasks go to any worker that has room. What they need, what was charged and what is offered is set aside. A
-- checksum that covers any of this fits no more.
DROP TABLE IF EXISTS aside_17_task;
DROP TABLE IF EXISTS aside_17_queue;
DROP TABLE IF EXISTS aside_17_schedule;
DROP TABLE IF EXISTS aside_17_worker;
CREATE TABLE aside_17_task (id INTEGER PRIMARY KEY, need TEXT, charged TEXT, token INTEGER);
CREATE TABLE aside_17_queue (id INTEGER PRIMARY KEY, need TEXT, placement INTEGER);
CREATE TABLE aside_17_schedule (id INTEGER PRIMARY KEY, need TEXT);
CREATE TABLE aside_17_worker (id INTEGER PRIMARY KEY, offer TEXT, instance INTEGER);
INSERT INTO aside_17_task
	SELECT id, need, charged, token FROM task WHERE need IS NOT NULL OR charged IS NOT NULL;
INSERT INTO aside_17_queue SELECT id, need, placement FROM queue WHERE need IS NOT NULL OR placement <> 0;
INSERT INTO aside_17_schedule SELECT id, need FROM schedule WHERE need IS NOT NULL;
INSERT INTO aside_17_worker SELECT id, offer, instance FROM worker WHERE offer IS NOT NULL;
UPDATE task SET spec_sum = NULL WHERE need IS NOT NULL;
UPDATE task SET state_sum = NULL WHERE charged IS NOT NULL;
UPDATE queue SET sum = NULL WHERE need IS NOT NULL OR placement <> 0;
UPDATE schedule SET sum = NULL WHERE need IS NOT NULL;
UPDATE worker SET sum = NULL WHERE offer IS NOT NULL;
ALTER TABLE task DROP COLUMN need;
ALTER TABLE task DROP COLUMN charged;
ALTER TABLE queue DROP COLUMN need;
ALTER TABLE queue DROP COLUMN placement;
ALTER TABLE schedule DROP COLUMN need;
ALTER TABLE worker DROP COLUMN offer;
