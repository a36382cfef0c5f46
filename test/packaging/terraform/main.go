// Command terraform does to a broker what `terraform apply`, a second apply and `terraform destroy`
// do with the provider for RabbitMQ: it creates the resources of a file with rabbit-hole, the
// provider's client library, reads them back, and removes them. The arguments are the file and the
// broker's URL.
//
// It is a separate module because of its dependencies. The provider itself is not available as a Go
// module.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclparse"
	rabbithole "github.com/michaelklishin/rabbit-hole/v3"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

func main() {
	log.SetFlags(0)
	resources, err := read(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	client, err := rabbithole.NewClient(os.Args[2], "admin", "secret")
	if err != nil {
		log.Fatal(err)
	}
	for range 2 { // the second time nothing changes
		if err := apply(client, resources); err != nil {
			log.Fatal(err)
		}
	}
	for _, r := range slices.Backward(resources) {
		if err := r.remove(client); err != nil {
			log.Fatalf("remove %+v: %v", r, err)
		}
	}
	if _, err := client.GetVhost("shop"); err == nil {
		log.Fatal("the virtual host is still there")
	}
	fmt.Println(len(resources), "resources")
}

// apply creates resources and reads them back. If a resource is read back differently, the next
// plan would change it.
func apply(c *rabbithole.Client, resources []resource) error {
	for _, r := range resources {
		if err := r.make(c); err != nil {
			return fmt.Errorf("make %+v: %w", r, err)
		}
		want := fmt.Sprintf("%+v", r)
		if err := r.read(c); err != nil {
			return fmt.Errorf("read %s: %w", want, err)
		}
		if got := fmt.Sprintf("%+v", r); got != want {
			return fmt.Errorf("made %s, read %s", want, got)
		}
	}
	return nil
}

// read returns the resources of a file in order.
func read(file string) (all []resource, err error) {
	parsed, diagnostics := hclparse.NewParser().ParseHCLFile(file)
	if diagnostics.HasErrors() {
		return nil, diagnostics
	}
	content, _, diagnostics := parsed.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "resource", LabelNames: []string{"type", "name"}}}})
	if diagnostics.HasErrors() {
		return nil, diagnostics
	}
	password := cty.StringVal("secret")
	known := map[string]cty.Value{"var": cty.ObjectVal(map[string]cty.Value{"password": password, "app_password": password})}
	context := &hcl.EvalContext{Variables: known, Functions: map[string]function.Function{"jsonencode": stdlib.JSONEncodeFunc}}
	for _, block := range content.Blocks {
		r, found := kinds[block.Labels[0]]
		if !found {
			return nil, fmt.Errorf("%s is a resource that is not played here", block.Labels[0])
		}
		made := r()
		if diagnostics := gohcl.DecodeBody(block.Body, context, made); diagnostics.HasErrors() {
			return nil, diagnostics
		}
		known[block.Labels[0]] = cty.ObjectVal(map[string]cty.Value{block.Labels[1]: cty.ObjectVal(map[string]cty.Value{"name": cty.StringVal(made.name())})})
		all = append(all, made)
	}
	return all, nil
}

// arguments parses the arguments of a queue.
func arguments(text string) (all map[string]any, err error) {
	err = json.Unmarshal([]byte(text), &all)
	return all, err
}
