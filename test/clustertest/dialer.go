package clustertest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The index of a node of a Network is in the command line of its process, where dialer finds it.
const (
	nameFlag    = "--node-name"
	namePattern = "n%d"
)

// dialer returns the index of the node that opened a connection to this process, or outside if no
// node did. All traffic of the nodes is encrypted and comes from one address, but the system knows
// which process owns a connection.
func dialer(nc net.Conn) int {
	socket := socketOf(nc.RemoteAddr().(*net.TCPAddr).Port, nc.LocalAddr().(*net.TCPAddr).Port)
	if socket == "" {
		return outside
	}
	lists, _ := filepath.Glob("/proc/self/task/*/children") //nolint:errcheck // the pattern is good
	for _, list := range lists {
		children, _ := os.ReadFile(list) //nolint:errcheck // an exited thread has none
		for _, pid := range strings.Fields(string(children)) {
			if place := placeOf(pid); place != outside && has(pid, socket) {
				return place
			}
		}
	}
	return outside
}

// socketOf returns the system's name for the socket of a connection between two ports of 127.0.0.1.
func socketOf(from, to int) string {
	table, _ := os.ReadFile("/proc/net/tcp") //nolint:errcheck // Linked has checked it
	ends := fmt.Sprintf(" 0100007F:%04X 0100007F:%04X ", from, to)
	for line := range strings.Lines(string(table)) {
		if strings.Contains(line, ends) {
			return "socket:[" + strings.Fields(line)[9] + "]"
		}
	}
	return ""
}

// placeOf returns the index of the node that runs in a process.
func placeOf(pid string) int {
	line, _ := os.ReadFile("/proc/" + pid + "/cmdline") //nolint:errcheck // an exited process has none
	args := bytes.Split(line, []byte{0})
	place := outside
	if i := slices.IndexFunc(args, func(arg []byte) bool { return string(arg) == nameFlag }); i >= 0 && i+1 < len(args) {
		fmt.Sscanf(string(args[i+1]), namePattern, &place) //nolint:errcheck // else it is outside
	}
	return place
}

// has reports whether a process has a socket open.
func has(pid, socket string) bool {
	files, _ := filepath.Glob("/proc/" + pid + "/fd/*") //nolint:errcheck // the pattern is good
	return slices.ContainsFunc(files, func(file string) bool {
		to, err := os.Readlink(file)
		return err == nil && to == socket
	})
}
