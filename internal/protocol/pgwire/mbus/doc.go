// Package mbus is the functions of the schemas mbus4 and mbus on the broker's queues: what SQL posts and consumes, in transactions.
package mbus
