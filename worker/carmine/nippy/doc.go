// Package nippy reads and writes values serialised ("frozen") by Nippy, the Clojure library with
// which Carmine stores its messages.
//
// # Format
//
// A frozen value is a header of four bytes and one element. All numbers are big-endian.
//
//	'N' 'P' 'Y' meta   element
//
// The byte meta says how the element is stored: 0 unchanged; 1 Snappy, 8 LZ4, 20 Zstandard, 11
// LZMA2 (compressed), the others up to 23 encrypted, or compressed by the user's own functions. LZ4
// and LZMA2 data is preceded by the uncompressed size in four bytes.
//
// An element is a byte for its type, followed by the data of that type:
//
//	3 nil   8 true   9 false   4 boolean (1 byte)   10 char (a UTF-16 unit)
//	40 byte   41 short   42 int   0 long zero   100 101 102 43 long of 1, 2, 4, 8 bytes, signed
//	87 88 89 long of 1, 2, 4 bytes: the smallest signed number is 0; 93 94 95 the same, negated
//	60 float   55 double zero   61 double
//	34 ""   96 string with a length of 1 byte from -128 on (-128 is 0); 105 of 1 byte, 16 of 2 bytes, 13 of 4 bytes, signed
//	106 85 77 14 keyword, 56 86 78 57 symbol: length of 1, 2, 4, 4 bytes, and the name with its namespace, without a colon
//	53 empty byte array, 7 15 2 byte array with a length of 1, 2, 4 bytes
//	17 empty vector, 113 of two, 114 of three, 97 110 69 21 with a count of 1 byte from -128 on, of 1, 2, 4 bytes
//	18 98 111 32 23 set, 19 99 123 112 33 30 map (the count is of pairs), 35 36 54 20 list, 37 38 39 24 seq: the same scheme
//	26 queue, 28 sorted set, 31 sorted map with a count of 4 bytes; 27 29 map with a count of keys and values; 22 map
//	103 map entry: two elements   25 metadata: a map, and the value it belongs to
//	107 115 109 108 117 116 arrays of elements with a count of 4 bytes; 118 119 120 121 of ints, longs, floats, doubles as they are
//	44 45 big integer: a length of 4 bytes, two's complement; 62 big decimal: that and a scale of 4 bytes; 70 ratio: two of them
//	90 92 date (ms)   79 instant (s, ns)   83 duration (s, ns)   84 period (years, months, days)   91 UUID   71 URI, 58 pattern: an element
//	48 49 80 record: the name of its class with a length of 1, 2, 4 bytes, and its map
//	59 63 64 65 66 72 73 74 the first eight cached values, 67 68 others by a number of 1 or 2 bytes: with the value at its first place
//
// Not supported are values of Java's own serialisation (75 76 46 50 6), of the Clojure reader (47
// 51 52 5 1), deftypes (81 122), custom types (82, and all from 128 on), and values of Nippy 1,
// which have no header.
//
// # Versions
//
// Everything that Nippy 2.0 to 3.8 writes can be read. Nippy 2.12 and later read what Freeze
// writes.
//
// # Bounds
//
// Thaw accepts at most 32 MiB of uncompressed data, 4 Mi elements, 512 levels, and numbers of 4096
// bytes. It allocates memory for a length only if the input has that many bytes.
package nippy
