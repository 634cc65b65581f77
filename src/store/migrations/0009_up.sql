-- SPDX-License-Identifier: Apache-2.0
-- The audit trail is a chain (src/store/chain.c): each event has a hash of what it says and of the hash before.
-- Events from before have none. Only the oldest go, in their order, so an index of their times is of no use.
ALTER TABLE event ADD COLUMN prev INTEGER NOT NULL DEFAULT 0;
ALTER TABLE event ADD COLUMN hash BLOB;
DROP INDEX event_time;
