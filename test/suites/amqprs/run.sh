#!/bin/sh
# amqprs, a Rust client: the unit and integration tests of its crate, without TLS, whose library takes
# longest to compile.
. ../lib.sh
fetch() {
	crate amqprs 2.1.5
	sed -i '/^\[dev-dependencies.rustls\]$/,/^$/d' "$DIR/src/Cargo.toml"
	compile_crate
}
run() { run_crate; }
"$1"
