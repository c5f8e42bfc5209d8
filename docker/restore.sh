#!/bin/sh
# Lays a dump (RDB file) into the empty data folder of a Redis server that does not run and keeps
# an append-only file: restore.sh DUMP FOLDER
# A server with `appendonly yes` ignores a dump.rdb; it begins with the base of its append-only file.
set -eu
dump=$1 folder=$2/appendonlydir
test -r "$dump" || { echo "$dump cannot be read" >&2; exit 2; }
if test -e "$folder"; then
  echo "$folder holds data already; stop the server and move them away first" >&2
  exit 2
fi
mkdir -p "$folder"
cp "$dump" "$folder/appendonly.aof.1.base.rdb"
echo "file appendonly.aof.1.base.rdb seq 1 type b" >"$folder/appendonly.aof.manifest"
