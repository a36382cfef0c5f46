// Package rest is what all paths of the HTTP API share: logins, the tags that a path needs,
// sessions of the engine, bodies and answers as JSON, errors, the server.
//
// An [API] answers requests. As an http.Handler it does so for the operator of the broker, who may
// do everything: on the admin socket in the data folder, which only the broker's own OS user can
// open. A [Server] serves it over the network as well, to users of the broker who log in with each
// request (Basic). What a path needs beyond that is declared where it is registered: a tag, as in
// RabbitMQ, for what operators do; for the rest the user's permissions, checked by the engine's
// session that each request gets.
//
// An error is {"error": "not_found", "reason": "..."} with a status of 4xx or 5xx; reasons are
// written for people.
package rest
