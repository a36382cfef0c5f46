// Package soak runs a broker for hours under a mixed load, as in a company, and looks for failures
// and for growth.
//
// The loads are those of test/crash/loads: clients of AMQP, SQL, jobs, keys, queues as keys and
// semaphores, each with a history and rules for it. Here they share a broker (shared.go) and work
// at the rate of an ordinary day. A clerk (clerk.go) uses HTTP. An operator (operator.go) creates
// and deletes queues and users, changes policies, and makes and restores backups. A probe
// (probe.go) measures the latency of confirms and deliveries.
//
// A run consists of cycles. In each cycle the broker is killed a few times, the last time after a
// long life. Then the loads empty their queues and check their histories, and everything is
// deleted. So histories do not grow without bound, and the broker should be as it was before.
//
// Figures (figures.go) are sampled from the broker's metrics. Growth (growth.go) reports which of
// them have grown without a cause: within a life, from life to life, and between cycles, when the
// broker is empty.
package soak
