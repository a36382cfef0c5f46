package config

import (
	"strings"
	"testing"
)

// TestCluster checks that unsupported or missing settings of a cluster node are reported with their
// keys.
func TestCluster(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Config)
		says   string // "": valid
	}{
		"alone":               {func(*Config) {}, ""},
		"a node":              {func(c *Config) { c.ClusterListen = "10.0.0.1:5680" }, ""},
		"quorum":              {func(c *Config) { c.ClusterListen, c.EtcdPutGuarantee = "n1:5680", EtcdGuaranteeQuorum }, ""},
		"quorum alone":        {func(c *Config) { c.EtcdPutGuarantee = EtcdGuaranteeQuorum }, "etcd_put_guarantee"},
		"behind another name": {func(c *Config) { c.ClusterListen, c.ClusterAdvertise = "0.0.0.0:5680", "n1:5680" }, ""},
		"every address":       {func(c *Config) { c.ClusterListen = "0.0.0.0:5680" }, "cluster_advertise"},
		"no host":             {func(c *Config) { c.ClusterListen = ":5680" }, "cluster_advertise"},
		"any port":            {func(c *Config) { c.ClusterListen = "n1:0" }, "cluster_advertise"},
		"no fsync":            {func(c *Config) { c.ClusterListen, c.Sync = "n1:5680", SyncOS }, "sync"},
		"joining nothing":     {func(c *Config) { c.ClusterJoin = "token" }, "cluster_listen"},
		"founding":            {func(c *Config) { c.ClusterListen, c.ClusterJoinFile, c.ClusterFound = "n1:5680", "token", "n1" }, ""},
		"founding for ever":   {func(c *Config) { c.ClusterListen, c.ClusterFound = "n1:5680", "n1" }, "cluster_join_file"},
		"founding nothing":    {func(c *Config) { c.ClusterFound = "n1" }, "cluster_listen"},
		"two tokens":          {func(c *Config) { c.ClusterListen, c.ClusterJoin, c.ClusterJoinFile = "n1:5680", "a", "b" }, "given twice"},
		"two addresses":       {func(c *Config) { c.ClusterListen = "n1:5680,n2:5680" }, "one host:port"},
	} {
		cfg := Default()
		c.change(&cfg)
		err := cfg.Validate()
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}
