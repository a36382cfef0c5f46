// Package failure is the errors of the engine: sentinels, and Error, which carries what a protocol
// needs to word one of them for its clients.
//
// It knows neither RabbitMQ's texts nor PostgreSQL's: each protocol maps the sentinels to its own
// codes by one table, and a test of that protocol fails for a sentinel without a row.
package failure
