#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tree.sh FILE: a process that starts others, which start others; all would live for long, and
# none of them heeds SIGTERM. The file says when all are there.
trap '' TERM
(trap '' TERM; (sleep 1000; true) & setsid sleep 1000 & wait) &
sleep 1000 &
echo ready >"$1"
wait
sleep 1000
