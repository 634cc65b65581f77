/* SPDX-License-Identifier: Apache-2.0 */
/* Frames in words, for traces: "beat 12 (healthy); ended 6e1f…/3 succeeded". */
#ifndef WIRE_LINK_WORDS_H
#define WIRE_LINK_WORDS_H

#include "wire/link/link.h"

/* Appended; long lists are cut short, so the text stays readable whatever a frame holds. */
void link_words_to_server(
    const struct link_to_server *m, const struct id_space *ids, struct buf *out);
/* A welcome brings the ids' space itself. */
void link_words_to_worker(
    const struct link_to_worker *m, const struct id_space *ids, struct buf *out);

#endif
