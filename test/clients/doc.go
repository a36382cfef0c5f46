// Package clients runs unmodified RabbitMQ clients against a broker: pika (python/), amqplib
// (node/), amqp091-go (go/) and amqp-client (java/). Each runs the six RabbitMQ tutorials, and pika
// every snippet that the project set out to support (seed_*.py). Celery (celery/) runs with real
// workers.
//
// Clients of Redis (redis/) and of etcd (etcd/: etcdctl, python-etcd3, etcd3gw; jetcd in java/;
// clientv3 in etcd_go_test.go) are run the same way.
//
// TestFailover has most of them, and those in Go, work on a cluster while its leader changes.
//
// AMQP_URL runs the same scripts against another broker, such as RabbitMQ itself. Scripts that kill
// their broker still start one of their own.
package clients
