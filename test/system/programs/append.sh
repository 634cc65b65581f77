#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# append.sh FILE WORD: leaves the order in which tasks ran.
echo "$2" >>"$1"
