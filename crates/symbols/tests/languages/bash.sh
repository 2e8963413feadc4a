#!/usr/bin/env bash
# Rotates logs. function commented() { :; }
set -euo pipefail

readonly VERSION=1.4
declare -r MAX_SIZE=1048576
declare -a TARGETS=(app.log "db log" 'web.log')
declare -A LIMITS=([app]=10 [db]=20)
export LOG_DIR=${LOG_DIR:-/var/log}
verbose=0
count=0 failed=0
TARGETS+=(extra.log)
LIMITS[web]=30
alias ll='ls -l'
LC_ALL=C sort /dev/null
LANG=C \
    sort /dev/null
(in_subshell_only=1)
taken=$(inner=1; echo "$inner")

usage() {
    cat <<'TEXT'
usage: rotate [-v] FILE
function in_here_document() { :; }
not_a_variable=1
TEXT
}

function log {
    local level=$1 message=$2
    shift 2
    stamp=$(date +%s)
    printf '%s %s\n' "$level" "$message function quoted() {}"
}

function rotate() {
    local file=$1
    is_large() { [[ $(stat -c %s "$file") -gt $MAX_SIZE ]]; }
    if is_large; then
        mv "$file" "$file.1"
    fi
}

in_subshell() (
    cd "$LOG_DIR" && pwd
)

log::debug() { ((verbose)) && log debug "$*"; }
with-dash() { echo dash; }

if [[ -n ${1:-} ]]; then
    mode=strict
    on_condition() { return 0; }
fi

for target in "${TARGETS[@]}"; do
    last=$target
    rotate "$target"
done

case $mode in
    strict) level=2 ;;
    *) level=1 ;;
esac

while read -r line; do
    count=$((count + 1))
done < <(printf 'a\nb\n')
