// Command compose prints a Compose file as JSON, as Compose's own loader reads it.
//
// It is a separate module because of its dependencies.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	o, err := cli.NewProjectOptions(os.Args[1:], cli.WithOsEnv, cli.WithResolvedPaths(true))
	if err != nil {
		log.Fatal(err)
	}
	project, err := o.LoadProject(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(project); err != nil {
		log.Fatal(err)
	}
}
