package protocol

import (
	"bytes"
	"net"
	"testing"
)

// TestFillGrows checks that a request of many small parts, each of which is wanted only when it is
// parsed, takes few reads whatever its length.
func TestFillGrows(t *testing.T) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	sent := bytes.Repeat([]byte("0123456789"), 400_000)
	go func() {
		theirs.Write(sent) //nolint:errcheck // the received data is compared
		theirs.Close()
	}()
	var in Input
	in.Init(ours)
	defer in.Release()
	for len(in.Pending()) < len(sent) {
		if err := in.Fill(len(in.Pending()) + 10); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(in.Pending(), sent) {
		t.Fatal("something else came than was sent")
	}
	if n := in.Reads(); n > 20 {
		t.Fatalf("%d reads", n)
	}
}
