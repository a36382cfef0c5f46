// Package oracle compares the AMQP protocol with a real RabbitMQ, reply by reply.
//
// The folder testdata holds scripts of AMQP operations, each with the answers that RabbitMQ 3.10
// gave. TestFiveways runs every script against a broker of this module and compares its answers
// with the recorded ones. TestRabbitMQ starts an installed RabbitMQ and checks that the recordings
// are what it answers; with -rewrite it records them anew.
//
// A case looks like this:
//
//	== a queue that is not there
//	queue.declare queue=q passive
//	----
//	channel.close reply-code=404 reply-text="NOT_FOUND - no queue 'q' in vhost '/'" class-id=50 method-id=10
//
// Where Fiveways is meant to answer differently, a second list of answers follows with the reason:
//
//	---- fiveways: newer versions say 406
//
// TestRandom needs no recordings: it generates scripts from a seed (generate.go), runs each on a
// RabbitMQ and on Fiveways, waits after each line until both are idle (settle.go), and compares
// everything that was received. A script with different answers is shortened as far as possible and
// printed as a case for testdata. Intended differences are listed in expected_differences.txt; what
// RabbitMQ leaves open is not generated, or not compared (free).
//
// Every case has connections of its own, and its queues and exchanges (q, q1 to q9, x, x1 to x9)
// get names of their own, so that cases run side by side. script.go describes the lines of a
// script.
package oracle
