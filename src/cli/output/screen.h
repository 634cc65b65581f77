/* SPDX-License-Identifier: Apache-2.0 */
/* The whole terminal, drawn again and again in place: behind `top` and --watch. */
#ifndef CLI_SCREEN_H
#define CLI_SCREEN_H

#include "base/str.h"

/* A screen of its own, so that what stood on the terminal before is there again afterwards. */
void screen_enter(void);
void screen_leave(void);
/*
 * The same with the keys: they are not shown, and each is read as it comes. Given back also by
 * exit(), whatever led there. False: there is no terminal to read from. Signals are counted from
 * now on.
 */
bool screen_take(void);
void screen_give_back(void);
/* The first lines of `text`, as many as fit, and `last` in the line below them. */
void screen_paint(struct str text, const char *last);
/* How many lines of text that leaves out. */
size_t screen_left_out(struct str text);

#endif
