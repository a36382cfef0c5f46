// Package mbus implements the functions of the schemas mbus4 and mbus on top of the broker's
// queues: posting and consuming messages with SQL, in transactions.
package mbus
