#!/bin/sh
# h2spec, the conformance suite of HTTP/2. go.mod and go.sum list its modules. It calls a gRPC method
# like a browser: with GET, and without a content type. Cases that wait for an answer that must not
# come take a second each.
. ../lib.sh
fetch() {
	go build -o "$DIR/h2spec" github.com/summerwind/h2spec/cmd/h2spec
}
run() {
	"$DIR/h2spec" --host "$ETCD_HOST" --port "$ETCD_PORT" --path /etcdserverpb.KV/Range --timeout 1 --junit-report "$REPORT" || [ $? -eq 1 ]
}
"$1"
