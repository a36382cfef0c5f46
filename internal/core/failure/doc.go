// Package failure defines the engine's errors: sentinels, and Error, which adds the details that a
// protocol needs for its error text.
//
// It knows neither RabbitMQ's texts nor PostgreSQL's: each protocol maps the sentinels to its own
// codes in one table, and a test of that protocol fails for a sentinel without a row.
package failure
