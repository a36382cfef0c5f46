// Package migration has the commands that move messages and jobs from other systems into a broker,
// or from broker to broker.
package migration
