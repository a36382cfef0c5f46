#!/bin/sh
# Sends three mails with curl and sed.
#
# BROKER_URL is the address of the broker, with a user (default http://guest:guest@127.0.0.1:15672).
set -eu
api=${BROKER_URL:-http://guest:guest@127.0.0.1:15672}/api
queue=$api/queues/%2F/examples.mails

curl -fsS -X PUT "$queue" -d '{"durable":true}'
for mail in 'mail 1: ann' 'mail 2: bob' 'mail 3: eve'; do
	printf '%s' "$mail" | curl -fsS -o /dev/null -H 'Content-Type: text/plain' --data-binary @- "$queue/messages"
done

field() { sed -n 's/.*"'"$1"'":"\{0,1\}\([^",]*\).*/\1/p'; } # a field of the message taken

sent=0
while [ $sent -lt 3 ]; do # a real worker never ends
	taken=$(curl -fsS -X POST "$queue/messages/take?wait=30s&lease=1m") # unless acked within a minute, another worker gets it
	[ "$taken" != '{"messages":[]}' ] || continue                          # no message within 30 seconds
	mail=$(echo "$taken" | field payload) token=$(echo "$taken" | field token) attempt=$(($(echo "$taken" | field returns) + 1))
	if [ "$mail" = 'mail 2: bob' ] && [ "$attempt" = 1 ]; then
		echo "mail 2: bob does not answer"
		curl -fsS -o /dev/null "$queue/messages/nack" -d '{"tokens":["'"$token"'"],"delay":"300ms"}'
	else
		echo "${mail%%:*}: sent to ${mail##* }, attempt $attempt"
		curl -fsS -o /dev/null "$queue/messages/ack" -d '{"tokens":["'"$token"'"]}'
		sent=$((sent + 1))
	fi
done
