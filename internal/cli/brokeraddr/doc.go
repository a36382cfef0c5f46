// Package brokeraddr finds the addresses of the broker for commands that use AMQP, SQL, the Redis
// protocol or the etcd API. It asks the broker that runs on the data folder, so that a command
// never reaches another broker on the default address.
package brokeraddr
