// Package redisd starts real Redis servers for tests, comparisons and measurements, where Redis is
// installed.
//
// A server has a folder, a port of 127.0.0.1 and a life of its own; nothing of the system's Redis
// is touched.
package redisd
