#!/bin/sh
# Writes what Lua 5.4 prints for each script here beside it. Needs Debian's lua5.4.
set -e
cd "$(dirname "$0")"
work=$(mktemp -d)
for script in *.lua; do
    # The name shows in error messages.
    cp "$script" "$work/function"
    (cd "$work" && lua5.4 function) > "${script%.lua}.out"
done
rm -r "$work"
