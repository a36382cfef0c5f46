package protocol

import (
	"bytes"
	"net"
	"testing"
)

// A request of many small parts, each wanted when it is looked at, is read in few steps, however
// long it is.
func TestFillGrows(t *testing.T) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	sent := bytes.Repeat([]byte("0123456789"), 400_000)
	go func() {
		theirs.Write(sent) //nolint:errcheck // what came is compared
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
