-- SPDX-License-Identifier: Apache-2.0
-- Graphs of packages, and the newest upload of each package. Those that were set aside on the way down are back.
CREATE TABLE IF NOT EXISTS aside_graph (
	id INTEGER PRIMARY KEY,
	name TEXT,
	n_packages INTEGER NOT NULL,
	n_deps INTEGER NOT NULL,
	n_unbuildable INTEGER NOT NULL,
	ctime_ms INTEGER NOT NULL,
	mtime_ms INTEGER NOT NULL,
	version INTEGER NOT NULL,
	actor TEXT,
	sum INTEGER
);
ALTER TABLE aside_graph RENAME TO graph;
CREATE TABLE IF NOT EXISTS aside_graph_package (
	graph INTEGER NOT NULL,
	number INTEGER NOT NULL,
	ident TEXT,
	needs TEXT,
	targets TEXT,
	reason TEXT,
	duration_ms INTEGER NOT NULL,
	time_ms INTEGER NOT NULL,
	sum INTEGER,
	PRIMARY KEY (graph, number)
) WITHOUT ROWID;
ALTER TABLE aside_graph_package RENAME TO graph_package;
