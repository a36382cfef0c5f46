//go:build !unix

package backend

func mapRegion(size int) []byte { return make([]byte, size) }

func unmapRegion([]byte) {}
