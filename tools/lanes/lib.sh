# SPDX-License-Identifier: Apache-2.0
# What the lanes share. ./check runs each lane from the root of the tree with
#   LANE_RESULT  a file; the lane adds lines "PASSED FAILED SKIPPED" to it, ./check sums them
#   LANE_LOGS    a directory for what should be kept
# A lane says what it does on stdout, and exits non-zero when anything went wrong.
set -uo pipefail

lane_failed=0

# lane_count PASSED FAILED [SKIPPED]
lane_count() {
	echo "$1 $2 ${3-0}" >>"$LANE_RESULT"
	if [ "$2" -ne 0 ]; then
		lane_failed=1
	fi
}

# lane_case NAME COMMAND…: one test, good when the command exits with 0.
lane_case() {
	local name=$1
	shift
	if "$@"; then
		echo "ok   $name"
		lane_count 1 0
	else
		echo "FAIL $name"
		lane_count 0 1
	fi
}

# lane_selftest NAME COMMAND…: a tool's own tests; its last line ends with "N passed, N failed".
lane_selftest() {
	local name=$1 output
	shift
	output=$("$@" 2>&1)
	grep -v '^ok ' <<<"$output"
	if [[ $output =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]] && [ "${BASH_REMATCH[1]}" -gt 0 ]; then
		lane_count "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
	else
		echo "FAIL $name did not say how many of its tests passed"
		lane_count 0 1
	fi
}

lane_end() {
	exit "$lane_failed"
}

# configure DIR OPTION…: a build directory with exactly these options. One that was set up with
# others, or that an interrupted run left half done, is made anew; the logs in it stay.
configure() {
	local dir=$1 stamp=$1/reeve-options
	shift
	if [ -f "$dir/build.ninja" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$*" ]; then
		return 0
	fi
	if [ -d "$dir" ]; then
		find "$dir" -mindepth 1 -maxdepth 1 ! -name logs -exec rm -rf {} +
	fi
	meson setup "$dir" . "$@" || return 1
	echo "$*" >"$stamp"
}

# build DIR [TARGET…]: ninja says what it does only when it fails.
build() {
	local dir=$1
	shift
	ninja -C "$dir" --quiet "$@"
}

# What sanitizers add confuses gcc's flow analysis: these warn of what cannot be (the release
# build keeps them).
sanitized_args='-Wno-format-truncation -Wno-format-overflow -Wno-maybe-uninitialized'

# The build that every lane but tsan and fuzz shares.
configure_check() {
	configure build-check -Db_sanitize=address,undefined -Db_lundef=false \
		-Dc_args="$sanitized_args"
}

# Sanitizers stop at the first finding, and say where.
export ASAN_OPTIONS=${ASAN_OPTIONS-abort_on_error=0:detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS-print_stacktrace=1:halt_on_error=1}

# meson_suite DIR SUITE [ARGUMENT…]: runs a suite and counts the single tests inside each program.
meson_suite() {
	local dir=$1 suite=$2
	shift 2
	rm -f "$dir/meson-logs/$suite.json"
	meson test -C "$dir" --suite "$suite" --logbase "$suite" --print-errorlogs \
		--timeout-multiplier 20 "$@" # what hangs is found by tools/herd
	local counts
	if ! counts=$(/usr/bin/python3 tools/lanes/count-meson "$dir/meson-logs/$suite.json"); then
		echo "FAIL suite $suite left no results"
		counts="0 1 0"
	fi
	# shellcheck disable=SC2086
	lane_count $counts
	cp "$dir/meson-logs/$suite.txt" "$LANE_LOGS/$suite-meson.txt" 2>/dev/null || true
}
