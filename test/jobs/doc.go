// Package jobs runs scripts of jobs on the broker, over the Redis protocol, and on the reference
// semantics: Lua scripts on a real Redis (internal/bench/jobs/lua). Both use one clock, which only
// the script advances, and must give the same answers. testdata has a script for each cell of the
// tables in docs/protocols/redis.md; TestRandom generates others (JOBS_SEED, JOBS_STEPS).
//
// Without a redis-server the tests are skipped; with CI=true they fail.
package jobs
