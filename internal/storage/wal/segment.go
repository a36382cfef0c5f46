package wal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
)

const (
	// SegmentHeaderSize is the offset of the first frame.
	SegmentHeaderSize = 32

	segmentMagic   = "5WAYSLOG"
	segmentVersion = 1
)

// SegmentName returns the file name of a segment.
func SegmentName(number uint64) string { return fmt.Sprintf("seg-%016x.log", number) }

// ParseSegmentName returns the number in the file name of a segment.
func ParseSegmentName(name string) (number uint64, ok bool) {
	if !strings.HasPrefix(name, "seg-") || !strings.HasSuffix(name, ".log") || len(name) != len("seg-")+16+len(".log") {
		return 0, false
	}
	if _, err := fmt.Sscanf(name[4:20], "%x", &number); err != nil {
		return 0, false
	}
	return number, SegmentName(number) == name
}

// AppendSegmentHeader appends the first bytes of a segment file. salt is random, see frameSum.
func AppendSegmentHeader(dst []byte, number uint64, salt uint32) []byte {
	at := len(dst)
	le := binary.LittleEndian
	dst = append(dst, segmentMagic...)
	dst = le.AppendUint32(dst, segmentVersion)
	dst = le.AppendUint32(dst, salt)
	dst = le.AppendUint64(dst, number)
	dst = le.AppendUint32(dst, 0)
	return le.AppendUint32(dst, crc32.Checksum(dst[at:], castagnoli))
}

// DecodeSegmentHeader returns the salt of the segment with the given number. Magic, version and sum
// have the same place in all versions, so that a newer segment is distinguished from a damaged one.
func DecodeSegmentHeader(b []byte, number uint64) (salt uint32, err error) {
	if len(b) < SegmentHeaderSize || string(b[:8]) != segmentMagic {
		return 0, ErrBadFrame
	}
	le := binary.LittleEndian
	if le.Uint32(b[28:]) != crc32.Checksum(b[:28], castagnoli) {
		return 0, ErrBadFrame
	}
	if v := le.Uint32(b[8:]); v != segmentVersion {
		return 0, fmt.Errorf("%w: segment version %d", ErrUnsupportedFormat, v)
	}
	if le.Uint64(b[16:]) != number {
		return 0, ErrBadFrame
	}
	return le.Uint32(b[12:]), nil
}
