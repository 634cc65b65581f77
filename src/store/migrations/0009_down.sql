-- SPDX-License-Identifier: Apache-2.0
-- Back: the chain is lost (src/store/sql/leaving.c), the events stay. A later one begins anew: events that are written
-- meanwhile have no place in the old one.
DELETE FROM meta WHERE name IN ('audit.head', 'audit.anchor');
ALTER TABLE event DROP COLUMN hash;
ALTER TABLE event DROP COLUMN prev;
CREATE INDEX event_time ON event (time_ms);
