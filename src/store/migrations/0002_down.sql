-- SPDX-License-Identifier: Apache-2.0
-- Back to 0 connected, 1 away, 2 lost: after a start nobody is connected yet.
UPDATE worker SET state = CASE state WHEN 3 THEN 2 ELSE 1 END;
