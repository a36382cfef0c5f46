// Package workers kills a broker while workers of package worker are at its jobs: each is handled
// to success, and by one worker at a time.
package workers
