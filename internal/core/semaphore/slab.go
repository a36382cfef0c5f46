package semaphore

// The size of a chunk.
const (
	chunkBits = 10
	chunkSize = 1 << chunkBits
)

// slab is a dense array that grows and shrinks at its end, a chunk at a time, so that no change
// copies more than one chunk. The first chunk grows like a slice, because most semaphores are
// small.
type slab[T any] struct {
	chunks [][]T // all but the last have chunkSize elements in use; one more may be spare
	n      uint32
}

func (s *slab[T]) at(i uint32) *T { return &s.chunks[i>>chunkBits][i%chunkSize] }

// push adds an element and returns its index.
func (s *slab[T]) push(v T) uint32 {
	i := s.n
	s.n++
	c := int(i >> chunkBits)
	if c == len(s.chunks) {
		var chunk []T
		if c > 0 {
			chunk = make([]T, 0, chunkSize)
		}
		s.chunks = append(s.chunks, chunk)
	}
	if chunk := &s.chunks[c]; i%chunkSize == uint32(len(*chunk)) {
		*chunk = append(*chunk, v)
	} else {
		(*chunk)[i%chunkSize] = v
	}
	return i
}

// pop drops the last element.
func (s *slab[T]) pop() {
	s.n--
	var none T
	*s.at(s.n) = none
	if last := len(s.chunks) - 1; last > 0 {
		if int(s.n)+chunkSize*3/2 < len(s.chunks)*chunkSize { // keep room for half a chunk, so that the next push need not allocate
			s.chunks[last] = nil
			s.chunks = s.chunks[:last]
		}
	} else if first := s.chunks[0]; len(first) > 16 && int(s.n) < cap(first)/4 {
		s.chunks[0] = append(make([]T, 0, cap(first)/2), first[:s.n]...)
	}
}

// room returns the number of elements that memory is allocated for.
func (s *slab[T]) room() int64 {
	switch len(s.chunks) {
	case 0:
		return 0
	case 1:
		return int64(cap(s.chunks[0]))
	}
	return int64(len(s.chunks)) * chunkSize
}
