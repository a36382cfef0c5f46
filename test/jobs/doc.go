// Package jobs plays scripts of jobs to the broker, as a client of the Redis protocol, and to the
// reference semantics: Lua scripts on a real Redis (internal/bench/jobs/lua). Both have the same
// clock, which only the script moves, and must give the same answers. testdata has a script for
// each cell of the tables of docs/protocols/redis.md; TestRandom makes others up (JOBS_SEED,
// JOBS_STEPS).
//
// Without a redis-server the tests skip, with CI=true they fail.
package jobs
