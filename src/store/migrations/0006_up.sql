-- SPDX-License-Identifier: Apache-2.0
-- Workers prove a key, and count their starts. Those of before have no key: the first that is proven under
-- their lock becomes theirs.
ALTER TABLE worker ADD COLUMN start INTEGER NOT NULL DEFAULT 0;
ALTER TABLE worker ADD COLUMN link_key TEXT;
UPDATE worker SET start = started_ms;
-- What was set aside on the way down, if nobody has come under that name since.
CREATE TABLE IF NOT EXISTS aside_6_worker
	(id INTEGER PRIMARY KEY, instance INTEGER, started_ms INTEGER, start INTEGER, link_key TEXT);
UPDATE worker SET started_ms = a.started_ms, start = a.start, link_key = a.link_key
	FROM aside_6_worker a WHERE a.id = worker.id AND a.instance = worker.instance;
DROP TABLE aside_6_worker;
