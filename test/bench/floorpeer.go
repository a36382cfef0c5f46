package main

import (
	"context"
	"flag"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"fiveways.dev/fiveways/test/bench/floor"
)

// floorPeer returns the peer of the null servers: this program, which accepts the command line of
// Fiveways.
func floorPeer() (*peer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return served(nameFloor, self), nil
}

// serveFloor is `fiveways serve` with null servers. Settings that do not apply to them are accepted
// and ignored. With the variable FLOOR_DISK=off they write nothing, so that only the cost of the
// wire is left.
func serveFloor(args []string) error {
	f := flag.NewFlagSet("serve", flag.ContinueOnError)
	data := f.String("data", "", "folder of the file that is written")
	addresses := map[string]*string{}
	for _, name := range []string{"amqp", "sql", "redis", "etcd", "http", "metrics"} {
		addresses[name] = f.String(name, "off", "address of the null server")
	}
	f.String("stats-interval", "", "ignored")
	if err := f.Parse(args); err != nil {
		return err
	}
	if err := os.MkdirAll(*data, 0o700); err != nil {
		return err
	}
	var d *floor.Disk
	if os.Getenv("FLOOR_DISK") != "off" {
		var err error
		if d, err = floor.OpenDisk(filepath.Join(*data, "floor"), os.Getenv("FIVEWAYS_SYNC") != "os"); err != nil {
			return err
		}
	}
	defer d.Close()
	on := map[string]string{}
	for name, address := range addresses {
		if *address != "off" {
			on[name] = *address
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return floor.Serve(ctx, d, on)
}
