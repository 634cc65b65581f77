-- SPDX-License-Identifier: Apache-2.0
-- A task says whether its times had to be moved to what is possible by the server's clock. Added at the
-- end, so that no row is rewritten however many there are.
ALTER TABLE task ADD COLUMN times_doubtful INTEGER NOT NULL DEFAULT 0;
