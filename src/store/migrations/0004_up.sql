-- SPDX-License-Identifier: Apache-2.0
-- Schedules, what became of their ticks, and which tasks they submitted. A task's columns are added at
-- the end, so that no row is rewritten however many there are. What was set aside on the way down is back, as after
-- a time without a server: of what schedules name, a queue or a task may be gone, as it may at any time.
CREATE TABLE IF NOT EXISTS aside_schedule (
	id INTEGER PRIMARY KEY,
	state INTEGER NOT NULL,
	begun INTEGER NOT NULL,
	done_until_s INTEGER NOT NULL,
	seen_until_s INTEGER NOT NULL,
	system_s INTEGER NOT NULL,
	zone_offset_s INTEGER NOT NULL,
	moved_s INTEGER NOT NULL,
	dealt0_from_s INTEGER NOT NULL,
	dealt0_to_s INTEGER NOT NULL,
	dealt0_moved_s INTEGER NOT NULL,
	dealt1_from_s INTEGER NOT NULL,
	dealt1_to_s INTEGER NOT NULL,
	dealt1_moved_s INTEGER NOT NULL,
	dealt2_from_s INTEGER NOT NULL,
	dealt2_to_s INTEGER NOT NULL,
	dealt2_moved_s INTEGER NOT NULL,
	dealt3_from_s INTEGER NOT NULL,
	dealt3_to_s INTEGER NOT NULL,
	dealt3_moved_s INTEGER NOT NULL,
	waiting_s INTEGER NOT NULL,
	waiting_offset_s INTEGER NOT NULL,
	last_tick_s INTEGER NOT NULL,
	last_task INTEGER NOT NULL,
	n_fired INTEGER NOT NULL,
	n_skipped INTEGER NOT NULL,
	name TEXT,
	zone TEXT,
	queue INTEGER NOT NULL,
	priority INTEGER NOT NULL,
	max_attempts INTEGER NOT NULL,
	timeout_ms INTEGER NOT NULL,
	backoff_ms INTEGER NOT NULL,
	backoff_max_ms INTEGER NOT NULL,
	overlap INTEGER NOT NULL,
	missed INTEGER NOT NULL,
	max_shift_s INTEGER NOT NULL,
	jitter_ms INTEGER NOT NULL,
	start_ms INTEGER NOT NULL,
	end_ms INTEGER NOT NULL,
	pause_reason TEXT,
	paused_ms INTEGER NOT NULL,
	paused_until_ms INTEGER NOT NULL,
	ctime_ms INTEGER NOT NULL,
	mtime_ms INTEGER NOT NULL,
	version INTEGER NOT NULL,
	items TEXT,
	source TEXT,
	labels TEXT,
	body TEXT
);

ALTER TABLE aside_schedule RENAME TO schedule;

CREATE TABLE IF NOT EXISTS aside_tick (
	schedule INTEGER NOT NULL,
	tick_s INTEGER NOT NULL,
	offset_s INTEGER NOT NULL,
	until_s INTEGER NOT NULL,
	outcome INTEGER NOT NULL,
	task INTEGER NOT NULL,
	time_ms INTEGER NOT NULL,
	shift_s INTEGER NOT NULL,
	reason TEXT,
	PRIMARY KEY (schedule, tick_s, offset_s)
) WITHOUT ROWID;
ALTER TABLE aside_tick RENAME TO tick;
-- A schedule's newest, and what is old enough to go.
CREATE INDEX tick_newest ON tick (schedule, time_ms, tick_s, offset_s);
CREATE INDEX tick_time ON tick (time_ms);

ALTER TABLE task ADD COLUMN schedule INTEGER NOT NULL DEFAULT 0;
ALTER TABLE task ADD COLUMN tick_s INTEGER NOT NULL DEFAULT 0;
-- Only tasks of schedules are in these: all others cost nothing. A start reads the second one, which
-- forgets a task that has ended.
CREATE INDEX task_schedule ON task (schedule) WHERE schedule > 0;
CREATE INDEX task_schedule_live ON task (schedule)
	WHERE schedule > 0 AND status <= 0 AND status NOT IN (-3, -5, -6);
CREATE TABLE IF NOT EXISTS aside_4_task (id INTEGER PRIMARY KEY, schedule INTEGER, tick_s INTEGER);
UPDATE task SET schedule = a.schedule, tick_s = a.tick_s FROM aside_4_task a WHERE a.id = task.id;
DROP TABLE aside_4_task;
