-- SPDX-License-Identifier: Apache-2.0
-- A queue says how its processes are run; a task keeps what its last attempt used (four numbers in one
-- text: src/store/usage_text.h) and left as its result. Added at the end, so that no row is rewritten
-- however many there are.
ALTER TABLE queue ADD COLUMN run TEXT;
ALTER TABLE task ADD COLUMN usage TEXT;
ALTER TABLE task ADD COLUMN result BLOB;
