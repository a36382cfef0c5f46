// Package oracle compares the AMQP edge with a real RabbitMQ, reply by reply.
//
// The folder testdata holds scripts of AMQP operations, and behind each the answers that RabbitMQ
// 3.10 gave. TestFiveways runs every script against a broker of this module and compares its
// answers with the recorded ones; TestRabbitMQ starts a RabbitMQ of its own, where one is
// installed, and checks that the recordings are what it says. With -rewrite, TestRabbitMQ records
// anew.
//
// A case looks like this:
//
//	== a queue that is not there
//	queue.declare queue=q passive
//	----
//	channel.close reply-code=404 reply-text="NOT_FOUND - no queue 'q' in vhost '/'" class-id=50 method-id=10
//
// Where Fiveways is meant to answer otherwise, a second list of answers follows with the reason:
//
//	---- fiveways: newer versions say 406
//
// TestRandom needs no recordings: it makes up scripts from a seed (generate.go), plays each to a
// RabbitMQ and to Fiveways, waiting behind each line until both have come to rest (settle.go), and
// compares all that came. A script that is answered differently is made as short as possible and
// printed as a case for testdata. What is meant to differ is in expected_differences.txt; what
// RabbitMQ leaves open is not made up, or not compared (free).
//
// Every case has connections of its own, and its queues and exchanges (q, q1 to q9, x, x1 to x9)
// get names of their own, so that cases run side by side. script.go tells what the lines of a
// script mean.
package oracle
