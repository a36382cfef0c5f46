//go:build unix

package backend

import "syscall"

// newRegion returns size zero bytes that the collector neither scans nor counts.
func newRegion(size int) []byte {
	mem, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return make([]byte, size)
	}
	return mem
}

// freeRegion gives back what newRegion returned. Memory that was not mapped is the collector's: unmapping it is refused and does nothing.
func freeRegion(mem []byte) { _ = syscall.Munmap(mem) }
