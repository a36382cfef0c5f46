// Command fiveways is the broker, with its tools and benchmarks, in one binary.
package main

import (
	"context"
	"os"

	"fiveways.dev/fiveways/internal/cli"
)

func main() { os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) }
