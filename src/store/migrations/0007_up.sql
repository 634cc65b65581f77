-- SPDX-License-Identifier: Apache-2.0
-- Tokens: what each may do, within which limits, until when; of its secret only a hash. Those that were set aside on the
-- way down are back.
CREATE TABLE IF NOT EXISTS aside_token (
	id INTEGER PRIMARY KEY,
	name TEXT,
	role INTEGER NOT NULL,
	once INTEGER NOT NULL,
	queues TEXT,
	labels TEXT,
	zone TEXT,
	hash TEXT,
	creator TEXT,
	ctime_ms INTEGER NOT NULL,
	expires_ms INTEGER NOT NULL
);
ALTER TABLE aside_token RENAME TO token;
