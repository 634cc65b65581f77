-- SPDX-License-Identifier: Apache-2.0
-- Which workers said goodbye and had nothing, and which are drained, and why. Before this none was, and every checksum
-- fits.
ALTER TABLE worker ADD COLUMN departed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE worker ADD COLUMN drained INTEGER NOT NULL DEFAULT 0;
ALTER TABLE worker ADD COLUMN drain_reason TEXT;
