#!/bin/sh
# Redis' own tests of lists, streams, channels and transactions, from Debian's source of 7.0.15.
# units.tcl in this folder runs them.
. ../lib.sh
fetch() {
	needs tcl
	debian_source bookworm redis
	cp units.tcl "$DIR/src/"
}
run() {
	cd "$DIR/src"
	timeout 600 tclsh units.tcl "$REDIS_HOST" "$REDIS_PORT" "$REPORT" type/list type/list-2 type/list-3 type/stream type/stream-cgroups pubsub multi
}
"$1"
