//go:build unix

package backend

import "syscall"

func mapRegion(size int) []byte {
	mem, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return make([]byte, size)
	}
	return mem
}

// unmapRegion does nothing to memory that could not be mapped: it belongs to the garbage collector,
// and unmapping it fails.
func unmapRegion(mem []byte) { _ = syscall.Munmap(mem) }
