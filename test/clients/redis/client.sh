#!/bin/sh
# Tests redis-cli and redis-benchmark with the broker at REDIS_URL.
set -eu

# wants runs a command and compares the output of redis-cli, joined to one line.
wants() {
	want=$1
	shift
	got=$(redis-cli -u "$REDIS_URL" "$@" 2>/dev/null | tr '\n' ' ')
	if [ "$got" != "$want " ]; then
		echo "$*: printed $got, want $want" >&2
		exit 1
	fi
}

wants PONG PING
wants 3 LPUSH sh.list a b c
wants a RPOP sh.list
wants 'c b' LRANGE sh.list 0 -1
wants b LMOVE sh.list sh.done RIGHT LEFT
wants list TYPE sh.done
wants 'sh.list c' BRPOP sh.none sh.list 5
wants 'b' RPOP sh.done
wants 0 EXISTS sh.list sh.done
wants 'added m1' JOB.ENQUEUE sh.jobs work ID m1
wants 'queued' JOB.STATUS sh.jobs m1
wants '1' JOB.CANCEL sh.jobs m1
wants 0 PUBLISH sh.news hello
wants 1-1 XADD sh.stream 1-1 n 1
wants OK XGROUP CREATE sh.stream g 0
wants 'sh.stream 1-1 n 1' XREADGROUP GROUP g me STREAMS sh.stream '>'
wants 1 XACK sh.stream g 1-1
wants 1 DEL sh.stream
wants "$(printf 'OK\nQUEUED\nQUEUED\n1\nx' | tr '\n' ' ')" <<'END'
MULTI
LPUSH sh.list x
RPOP sh.list
EXEC
END

# -3 selects RESP3; --pipe sends without waiting for replies.
got=$(redis-cli -3 -u "$REDIS_URL" CONFIG GET databases 2>/dev/null | tr '\n' ' ')
[ "$got" = "databases 1 " ] || { echo "RESP3: $got" >&2; exit 1; }
i=0
while [ $i -lt 100 ]; do
	echo "LPUSH sh.pipe $i"
	i=$((i + 1))
done | redis-cli -u "$REDIS_URL" --pipe 2>/dev/null | grep -q 'errors: 0, replies: 100'
wants 100 LLEN sh.pipe
wants 1 DEL sh.pipe

address=${REDIS_URL##*@}
address=${address%%/*}
for depth in 1 16; do
	redis-benchmark -h "${address%%:*}" -p "${address##*:}" -t ping,lpush,rpop -n 2000 -c 10 -P $depth --csv >/dev/null
done
wants 0 LLEN mylist
