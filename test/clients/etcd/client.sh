#!/bin/sh
# Tests etcdctl with the broker: keys, watches, transactions, leases, locks, elections, users, roles,
# maintenance, and queues. ETCD_ADDR is the address of the broker or, with QUEUES=no, which skips the
# queues, of a real etcd.
set -eu
export ETCDCTL_API=3 ETCDCTL_ENDPOINTS="$ETCD_ADDR"
work=$(mktemp -d)
background=
# Background processes end with the script.
finish() {
	for pid in $background; do kill "$pid" 2>/dev/null || true; done
	rm -rf "$work"
}
trap finish EXIT

fail() {
	echo "$*" >&2
	exit 1
}

# wants runs etcdctl and compares its output, joined to one line.
wants() {
	want=$1
	shift
	got=$(etcdctl "$@" 2>&1 | tr '\n' ' ') || true
	[ "$got" = "${want:+$want }" ] || fail "etcdctl $*: printed $got, want $want"
}

# matches runs etcdctl and searches a text in its output.
matches() {
	want=$1
	shift
	got=$(etcdctl "$@" 2>&1) || true
	case $got in *"$want"*) ;; *) fail "etcdctl $*: printed $got, which has no $want" ;; esac
}

# await waits until a file contains a text.
await() {
	tries=0
	until grep -qs -- "$2" "$1"; do
		tries=$((tries + 1))
		[ $tries -lt 200 ] || fail "$1 never had $2: $(cat "$1")"
		sleep 0.05
	done
}

# in_background runs etcdctl with its output in a file.
in_background() {
	file=$work/$1
	shift
	etcdctl "$@" >"$file" 2>&1 &
	last=$!
	background="$background $last"
}

etcdctl del sh/ --prefix >"$work/del"

echo keys
wants OK put sh/a 1
wants OK put sh/b 2
wants 'sh/a 1' get sh/a
wants '1' get sh/a --print-value-only
wants 'sh/a 1 sh/b 2' get sh/ --prefix
wants 'sh/b 2' get sh/ --prefix --order=DESCEND --sort-by=KEY --limit=1
wants 'sh/a  sh/b ' get sh/ --prefix --keys-only
wants 'OK sh/a 1' put sh/a 3 --prev-kv
wants OK put sh/a --ignore-value
wants 'sh/b 2' get sh/b --from-key --limit=1
matches '"count":2' get sh/ --prefix --write-out=json
wants '1 sh/b 2' del sh/b --prev-kv
wants 0 del sh/b

echo watches
in_background watch watch sh/w --prefix --prev-kv
in_background events watch sh/w1 --write-out=json
# A watch prints nothing when it begins, so puts are repeated until it reports one.
tries=0
until grep -q PUT "$work/watch" && [ -s "$work/events" ]; do
	etcdctl put sh/w1 first >"$work/put" || fail "$(cat "$work/put")"
	tries=$((tries + 1))
	[ $tries -lt 200 ] || fail "the watch told nothing"
done
wants 1 del sh/w1
await "$work/watch" DELETE
await "$work/watch" first

echo transactions
printf 'value("sh/a") = "3"\n\nput sh/t yes\nget sh/a\n\nput sh/t no\n\n' | etcdctl txn >"$work/txn"
await "$work/txn" SUCCESS
await "$work/txn" sh/a
wants 'sh/t yes' get sh/t
printf 'mod("sh/a") = "1"\n\nput sh/t yes\n\nget sh/t\n\n' | etcdctl txn >"$work/txn"
await "$work/txn" FAILURE
revision=$(etcdctl get sh/a --write-out=json | sed 's/.*"revision":\([0-9]*\).*/\1/')
matches "compacted revision $revision" compaction "$revision"
matches 'required revision has been compacted' get sh/a --rev=1
matches 'required revision is a future revision' get sh/a --rev=99999999

echo leases
lease=$(etcdctl lease grant 100 | awk '{print $2}')
wants OK put sh/l 1 --lease="$lease"
matches "attached keys([sh/l])" lease timetolive "$lease" --keys
matches "$lease" lease list
matches 'keepalived with TTL(100)' lease keep-alive "$lease" --once
matches revoked lease revoke "$lease"
wants '' get sh/l

echo locks and elections
in_background lock lock sh/lock
held=$last
await "$work/lock" sh/lock/
wants 'ran' lock sh/other echo ran
in_background waiting lock sh/lock
[ ! -s "$work/waiting" ] || fail "two hold a lock"
kill -INT "$held"
await "$work/waiting" sh/lock/
in_background elect elect sh/election me
await "$work/elect" me
in_background listen elect --listen sh/election
await "$work/listen" me

echo cluster
matches 'started' member list
matches 'is healthy' endpoint health
matches ", true," endpoint status
matches "$ETCD_ADDR, " endpoint hashkv
wants '' alarm list
wants '' alarm disarm
matches 'Finished defragmenting etcd member' defrag
etcdctl snapshot save "$work/snapshot.db" >"$work/save" 2>&1 || fail "$(cat "$work/save")"
matches ', ' snapshot status "$work/snapshot.db"
etcdctl snapshot restore "$work/snapshot.db" --data-dir "$work/restored" >"$work/save" 2>&1 || fail "$(cat "$work/save")"

echo users and roles
matches 'User sh.reader created' user add sh.reader:secret
matches 'Role sh.readers created' role add sh.readers
matches 'Role sh.readers updated' role grant-permission sh.readers read sh/ --prefix=true
matches 'Role sh.readers is granted' user grant-role sh.reader sh.readers
matches 'sh/' role get sh.readers
matches 'sh.readers' user get sh.reader
matches 'sh.reader' user list
matches 'User root created' user add root:secret
etcdctl role add root >"$work/role" 2>&1 || true
matches 'Role root is granted' user grant-role root root
wants 'Authentication Enabled' auth enable
wants 'sh/a 3' --user=sh.reader:secret get sh/a
matches 'permission denied' --user=sh.reader:secret put sh/a 4
matches 'permission denied' --user=sh.reader:secret get other
matches 'authentication failed, invalid user ID or password' --user=sh.reader:wrong get sh/a
matches 'user name is empty' get sh/a
wants OK --user=root:secret put sh/a 4
wants 'Authentication Disabled' --user=root:secret auth disable
wants 'Role sh.readers is revoked from user sh.reader' user revoke-role sh.reader sh.readers
wants 'User sh.reader deleted' user delete sh.reader
wants 'User root deleted' user delete root
wants 'Role sh.readers deleted' role delete sh.readers
wants 'Role root deleted' role delete root

[ "${QUEUES:-yes}" = yes ] || exit 0
echo queues
wants OK put /q/sh/p/order-1 'a book'
in_background queue watch /q/sh/c/me/ --prefix
await "$work/queue" 'a book'
delivery=$(grep '^/q/sh/c/me/' "$work/queue")
wants "$delivery a book" get "$delivery"
matches '/order-1' get /q/sh/ --prefix --keys-only
matches 'permission denied' del "/q/sh/${delivery#/q/sh/c/me/}"
wants 1 del "$delivery"
wants 0 del "$delivery"
wants OK put /queue/sh/producer/order-2 'a pen'
await "$work/queue" 'a pen'
wants 1 del /q/sh/c/me/ --prefix
wants 1 del /q/sh
