package semaphore_test

import (
	"os"
	"testing"
)

var folder string

// exampleFolder returns a folder for the data of an example.
func exampleFolder() string { return folder }

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "semaphore"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}
