#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# deletes_directory.sh READY [end]: stands in a directory that is not there any more, nor is its parent.
here=$(mktemp -d) && mkdir "$here/below" && cd "$here/below" && rm -r "$here" || exit 1
sleep 290 &
: >"$1"
[ "$2" = end ] || wait
