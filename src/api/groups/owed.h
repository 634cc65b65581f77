/* SPDX-License-Identifier: Apache-2.0 */
/* Drafting what was triggered: core_owed() says what there is. */
#ifndef API_OWED_H
#define API_OWED_H

struct api;

void owed_saw_commit(struct api *a);
void owed_free(struct api *a);

#endif
