#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Says when it is ready, and with what it was asked to stop.
trap 'echo asked; exit 7' TERM
echo ready
while :; do sleep 0.05; done
