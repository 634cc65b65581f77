#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A persistent plugin that starts but never says hello."""
import time

time.sleep(1000)
