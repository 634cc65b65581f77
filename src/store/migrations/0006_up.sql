-- SPDX-License-Identifier: Apache-2.0
-- Workers prove a key, and count their starts. Those of before have no key: the first that is proven under
-- their lock becomes theirs.
ALTER TABLE worker ADD COLUMN start INTEGER NOT NULL DEFAULT 0;
ALTER TABLE worker ADD COLUMN link_key TEXT;
UPDATE worker SET start = started_ms;
