// Command bench compares Fiveways with other AMQP 0-9-1 brokers, and its SQL with PostgreSQL, on
// one machine.
//
// Every case runs on a broker started for it alone, on loopback and with an empty data folder. The
// brokers take turns inside each repetition, so that a slow minute of the machine affects all of
// them; the table shows medians. RabbitMQ is looked for where Debian installs it and in PATH
// (--install installs it with apt-get), LavinMQ only where the variable LAVINMQ names its binary.
// SQL is compared with a PostgreSQL with the native schema, and the load generator for it is
// pgbench.
//
// In the main cases a null server takes its turn, too (package floor): the table shows how close
// Fiveways comes to it. This program is the null server when its first argument is "serve".
//
// The load generator is deliberately cheap: publishers write pre-encoded frames in bursts, and
// consumers walk frame headers only. The cost of a broker is the CPU time of its process divided by
// the messages of the same interval.
//
//	go run ./test/bench --quick                      a minute of small runs, to see that all of it works
//	go run ./test/bench --only throughput --n 1      the cases whose name starts with "throughput", once each
//	go run ./test/bench --doc docs/benchmarks.md     everything, in about an hour; rewrites the page
//	go run ./test/bench --only sql --doc docs/benchmarks.md  SQL and PostgreSQL; the rest of the page stays
//	go run ./test/bench --only sql-post,jobs-list     the cases of two kinds
package main
