#!/bin/sh
# Writes what Lua 5.1 prints for each script here beside it. Needs Debian's lua5.1.
# What we print instead, on purpose, is in NAME.differs by hand: the number of the
# line, a tab, and what we print. docs/functions.md says why.
set -e
cd "$(dirname "$0")"
work=$(mktemp -d)
for script in *.lua; do
    cp "$script" "$work/function"
    (cd "$work" && lua5.1 function) > "${script%.lua}.out"
done
rm -r "$work"
