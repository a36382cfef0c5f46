package packaging

import (
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
)

// TestTerraform checks that the requests of Terraform's provider create the resources of the
// example, read them back unchanged, and remove them.
func TestTerraform(t *testing.T) {
	tool := builtTool(t, "terraform")
	t.Setenv("FIVEWAYS_DEFAULT_PASS", "secret")
	b := brokertest.Run(t, "--http", "127.0.0.1:0", "--default-user", "admin")
	if out := output(t, tool, "../../deploy/terraform/main.tf", "http://"+b.HTTPAddr()); strings.TrimSpace(out) != "7 resources" {
		t.Errorf("it played %s", out)
	}
}
