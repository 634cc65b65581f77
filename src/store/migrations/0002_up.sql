-- SPDX-License-Identifier: Apache-2.0
-- A worker's stored state gets other meanings. Before: 0 connected, 1 away, 2 lost. Now: 0 new,
-- 1 unhealthy, 2 healthy, 3 must die. Whoever was not lost must speak again before it is healthy.
UPDATE worker SET state = CASE state WHEN 2 THEN 3 ELSE 1 END;
