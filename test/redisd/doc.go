// Package redisd starts real Redis servers for tests, comparisons and measurements, if Redis is
// installed.
//
// A server has its own folder and a port of 127.0.0.1; it does not touch the system's Redis.
package redisd
