-- SPDX-License-Identifier: Apache-2.0
-- What tasks, queues and schedules need of a worker, what a dispatched task's worker was charged with, what workers offer, and how
-- a queue's tasks are spread. Before this nobody needed anything, and every checksum fits.
ALTER TABLE task ADD COLUMN need TEXT;
ALTER TABLE task ADD COLUMN charged TEXT;
ALTER TABLE queue ADD COLUMN need TEXT;
ALTER TABLE schedule ADD COLUMN need TEXT;
ALTER TABLE queue ADD COLUMN placement INTEGER NOT NULL DEFAULT 0;
ALTER TABLE worker ADD COLUMN offer TEXT;
-- What was set aside on the way down: a charge is that of one attempt, an offer that of one process.
CREATE TABLE IF NOT EXISTS aside_17_task (id INTEGER PRIMARY KEY, need TEXT, charged TEXT, token INTEGER);
CREATE TABLE IF NOT EXISTS aside_17_queue (id INTEGER PRIMARY KEY, need TEXT, placement INTEGER);
CREATE TABLE IF NOT EXISTS aside_17_schedule (id INTEGER PRIMARY KEY, need TEXT);
CREATE TABLE IF NOT EXISTS aside_17_worker (id INTEGER PRIMARY KEY, offer TEXT, instance INTEGER);
UPDATE task SET need = a.need, spec_sum = NULL
	FROM aside_17_task a WHERE a.id = task.id AND a.need IS NOT NULL;
UPDATE task SET charged = a.charged, state_sum = NULL
	FROM aside_17_task a WHERE a.id = task.id AND a.charged IS NOT NULL AND a.token = task.token;
UPDATE queue SET need = a.need, placement = a.placement, sum = NULL
	FROM aside_17_queue a WHERE a.id = queue.id;
UPDATE schedule SET need = a.need, sum = NULL FROM aside_17_schedule a WHERE a.id = schedule.id;
UPDATE worker SET offer = a.offer, sum = NULL
	FROM aside_17_worker a WHERE a.id = worker.id AND a.instance = worker.instance;
DROP TABLE aside_17_task;
DROP TABLE aside_17_queue;
DROP TABLE aside_17_schedule;
DROP TABLE aside_17_worker;
