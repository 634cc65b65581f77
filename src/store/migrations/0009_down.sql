-- SPDX-License-Identifier: Apache-2.0
-- Back: the chain is forgotten, the events stay. A later one begins anew.
DELETE FROM meta WHERE name IN ('audit.head', 'audit.anchor');
ALTER TABLE event DROP COLUMN hash;
ALTER TABLE event DROP COLUMN prev;
CREATE INDEX event_time ON event (time_ms);
