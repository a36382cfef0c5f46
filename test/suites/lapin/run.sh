#!/bin/sh
# lapin, a Rust client: the unit and integration tests of its crate, with both of its runtimes. The TLS tests are examples, and are not run.
. ../lib.sh
fetch() {
	crate lapin 4.12.3
	compile_crate --locked --no-default-features --features tokio,smol
}
run() { AMQP_ADDR="amqp://$AMQP_HOST:$AMQP_PORT/%2f" run_crate; }
"$1"
