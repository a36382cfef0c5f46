// Package rest contains what all paths of the HTTP API share: logins, the tags that a path
// requires, sessions of the engine, bodies and answers as JSON, errors, and the server.
//
// An [API] answers requests. Used as an http.Handler, it answers them for the operator of the
// broker, who may do everything: it serves the admin socket in the data folder, which only the
// broker's own OS user can open. A [Server] serves the API over the network as well, to users of
// the broker who log in with each request (Basic authentication). Each path is registered with the
// tag that it requires, as in RabbitMQ, if it is for operators; the permissions of the user are
// checked by the engine's session that each request gets.
//
// An error is {"error": "not_found", "reason": "..."} with a status of 4xx or 5xx; reasons are
// sentences for people.
package rest
