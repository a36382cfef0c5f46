// Package workers kills a broker while workers of package worker process its jobs: each job is
// handled to success, and by one worker at a time.
package workers
