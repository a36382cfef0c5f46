// Package soak has a broker work for hours as in a company, and looks for what breaks or grows.
//
// The loads are those of test/crash/loads: clients of AMQP, SQL, jobs, keys, queues as keys and
// semaphores, each with a history and the rules for it. Here they share a broker (shared.go), at
// the rate of an ordinary day. A clerk (clerk.go) uses HTTP; an operator (operator.go) makes and
// deletes queues and users, changes policies, and makes backups and restores them; a probe
// (probe.go) measures how long confirms and deliveries take.
//
// A run consists of cycles. In each the broker is killed a few times, the last time after a long
// life; then the loads empty their queues and check all that they saw, and everything is deleted.
// So a history does not grow for ever, and the broker should be as it was.
//
// Figures (figures.go) are sampled from the broker's metrics. Growth (growth.go) says which of them
// have grown without a cause: within a life, from life to life, and between cycles, when the broker
// is empty.
package soak
