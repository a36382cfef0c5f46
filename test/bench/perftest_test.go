package main

import (
	"errors"
	"maps"
	"testing"
)

const perfTestOutput = `id: test-124459-460, starting producer #0, channel #0
id: test-124459-460, time 6.003 s, sent: 216078 msg/s, received: 188993 msg/s, min/median/75th/95th/99th consumer latency: 211535/260466/284014/305002/335852 µs
test stopped (Reached time limit)
id: test-124459-460, sending rate avg: 128236 msg/s
id: test-124459-460, receiving rate avg: 116922 msg/s
id: test-124459-460, consumer latency min/median/75th/95th/99th 70737/304975/416930/712763/763768 µs
id: test-124459-460, confirm latency min/median/75th/95th/99th 713/21407/39743/232779/363509 µs
`

func TestParsePerfTest(t *testing.T) {
	got, err := parsePerfTest(perfTestOutput)
	want := values{"sent": 128236, "received": 116922, "latency p50": 304.975}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	if _, err := parsePerfTest("Main thread caught exception"); !errors.Is(err, errPerfTest) {
		t.Errorf("output without numbers: %v", err)
	}
}
