#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# record.sh DIR SECONDS [EXIT-CODE]: a task that leaves behind when it began and ended, so that a
# test can tell afterwards what really ran. Lines are short appends, hence never torn; the last
# words are the monotonic time and, of an end, the exit code.
# The lock is held by this process and by what it starts: an attempt that begins while any
# process of an earlier one lives says so. SECONDS "forever": until it is killed.
say() {
	read -r up _ </proc/uptime
	echo "$REEVE_TASK_ID $REEVE_ATTEMPT $REEVE_TASK_TOKEN $1 $$ $up $2" >>"$dir/record"
}
dir=$1
exec 9>>"$dir/lock.$REEVE_TASK_ID"
flock -n 9 || say overlap
say begin
[ "$2" = forever ] && exec sleep 10000
[ "$2" = 0 ] || sleep "$2"
say end "${3-0}"
exit "${3-0}"
