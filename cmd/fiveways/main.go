// Command fiveways is the broker, its benchmark and its tools in one binary.
package main

import (
	"context"
	"os"

	"fiveways.dev/fiveways/internal/cli"
)

func main() { os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) }
