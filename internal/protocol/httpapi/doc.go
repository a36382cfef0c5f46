// Package httpapi serves the broker's HTTP API: RabbitMQ's management paths,
// fields and codes for what it offers, and paths of its own for messages.
//
// An API is an http.Handler for whoever may do everything: it is served on the
// admin socket in the data folder, which only the broker's own user can open.
//
// A refusal is {"error": "not_found", "reason": "..."} with a status of 4xx or
// 5xx; reasons are written for people.
package httpapi
