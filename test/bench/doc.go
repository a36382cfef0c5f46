// Command bench measures Fiveways beside other AMQP 0-9-1 brokers, and its SQL beside PostgreSQL,
// on one machine.
//
// Every case runs on a broker started for it alone, on loopback and on an empty data folder. The
// brokers take turns inside each repetition, so that a slow minute of the machine hits all of them;
// the table shows medians. RabbitMQ is found in its Debian place or in PATH (--install asks apt-get
// for it), LavinMQ only where the variable LAVINMQ names its binary. For SQL the rival is a
// PostgreSQL with the native schema, and the load generator is pgbench.
//
// The load generator costs little on purpose: publishers write pre-encoded frames in bursts and
// consumers walk frame headers only. Broker cost is the CPU time of the broker's process over the
// messages of the same interval.
//
//	go run ./test/bench --quick                      a minute of small runs, to see that all of it works
//	go run ./test/bench --only throughput --n 1      the cases whose name starts with "throughput", once each
//	go run ./test/bench --doc docs/benchmarks.md     everything, in about an hour, and the page written anew
//	go run ./test/bench --only sql --doc docs/benchmarks.md  SQL beside PostgreSQL; the rest of the page stays
package main
