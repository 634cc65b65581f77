-- SPDX-License-Identifier: Apache-2.0
-- Attempt numbers go on after a retry: of each task, how many attempts there were before the last one. Those that
-- were retried before began again at 1, as if it were their first: so none were before it, and every checksum fits.
ALTER TABLE task ADD COLUMN attempts_before INTEGER NOT NULL DEFAULT 0;
