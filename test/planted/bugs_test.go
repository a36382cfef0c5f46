package planted

// bug is a mistake that a programmer could make, with the test that must find it.
type bug struct {
	name  string
	edits []edit
	in    string   // the test's package, below test
	test  string   // as for -test.run
	env   []string // of the test: what it tries, and the maximum number of tries
	found string   // a regular expression for the error that the test then reports
}

// edit is a change of a source file. The text from must occur exactly once.
type edit struct{ file, from, to string }

// faults returns the environment for up to six clusters of three nodes in TestClusterFaults, with
// two faults each whose names match name, under one load.
func faults(name, load string) []string {
	return []string{"FAULT_SEEDS=6", "FAULT_SEED=1", "FAULT_ROUNDS=2", "FAULT_KINDS=" + name, "FAULT_LOADS=" + load}
}

// kills sets the number of kills in TestCrash and the tests like it.
var kills = []string{"CRASH_ROUNDS=12", "CRASH_SEED=1"}

const (
	// diverged matches what TestClusterFaults reports when the nodes have found that they differ.
	diverged = `was not the leader's|state of this node differs`
	// lost matches what the rules of messages report.
	lost = `confirmed but never delivered|lost without an acknowledgement`
)

var bugs = []bug{
	{
		name: "a confirm leaves before a majority has the message",
		edits: []edit{{
			"internal/replica/appends.go",
			"c.open[0].index != 0 && c.open[0].index <= c.commit {",
			"c.open[0].index != 0 && c.open[0].index <= c.log.Last().Index {",
		}},
		in: "crash", test: "TestClusterFaults", env: faults("the leader is cut off", "plain"),
		found: `sent to a node that is cut off, and confirmed|committed by a node that is cut off|` + lost,
	},
	{
		name: "a put is answered before a majority has it",
		edits: []edit{
			{
				"internal/statemachine/host.go",
				"\t\th.env.Log.AppendInline(group, logged)\n",
				"\t\th.env.Log.AppendInline(group, func(error) {})\n\t\tlogged(nil)\n",
			},
			{
				"internal/statemachine/host.go",
				"\t\th.env.Log.Append(group, logged)\n",
				"\t\th.env.Log.Append(group, func(error) {})\n\t\tlogged(nil)\n",
			},
		},
		in: "crash", test: "TestClusterFaults", env: faults("the leader is cut off", "keys"),
		found: `there is no order in which all of this can have happened|both made revision|had revision \d+ though|the watch missed`,
	},
	{
		name: "a node that has led answers without the lease",
		edits: []edit{{
			"internal/replica/log.go",
			"\tif l.Leads() {\n",
			"\tif !l.over.Load() {\n",
		}},
		in: "cluster", test: "TestStaleReads",
		found: `the node that has led answers`,
	},
	{
		name: "a leader that is cut off goes on",
		edits: []edit{
			{"internal/replica/core.go", "CheckQuorum:               true,", "CheckQuorum:               false,"},
			{"internal/replica/lease.go", "leaseFor = 700 * time.Millisecond", "leaseFor = time.Hour"},
		},
		in: "crash", test: "TestClusterFaults", env: faults("the leader is cut off", "plain"),
		found: `delivered by a node \d+ ms after it was cut off`,
	},
	{
		name: "a follower acknowledges what it has not written",
		edits: []edit{{
			"internal/replica/appends.go",
			"\t\tc.out.append(se, func(err error) {\n\t\t\tif last || err != nil {\n\t\t\t\tc.out.later(func(c *core) { c.stable(err) })\n\t\t\t}\n\t\t})\n",
			"\t\tc.out.append(se, func(error) {})\n\t\tif last {\n\t\t\tc.out.later(func(c *core) { c.stable(nil) })\n\t\t}\n",
		}},
		in: "cluster", test: "TestStuckDisks",
		found: `confirmed while only one disk answers`,
	},
	{
		name: "a follower settles only the first of several messages",
		edits: []edit{{
			"internal/core/shardstate/machine.go",
			"q.settle(s.handle, s.n, m.gone)",
			"q.settle(s.handle, min(s.n, 1), m.gone)",
		}},
		in: "crash", test: "TestClusterFaults", env: faults("the leader is killed", "plain"),
		found: `came back after its acknowledgement was committed|` + diverged,
	},
	{
		name: "an entry that comes again is applied again",
		edits: []edit{
			{
				"internal/broker/shard/recover.go",
				"\tif index <= sh.log.Index()-1 {\n",
				"\tif index == 0 {\n",
			},
			{
				"internal/cluster/engine.go",
				"\tif err := r.Apply(entry.Batch); err != nil {\n",
				"\tif err := errors.Join(r.Apply(entry.Batch), r.Apply(entry.Batch)); err != nil {\n",
			},
		},
		in: "crash", test: "TestClusterFaults", env: faults("the leader gives its lead away", "limited"),
		found: `count \d+ after \d+ returns|` + diverged,
	},
	{
		name: "a follower does not remember keys",
		edits: []edit{{
			"internal/core/shardstate/machine.go",
			"\t\t\tq.remember(&k)\n",
			"\t\t\t_ = k\n",
		}},
		in: "crash", test: "TestClusterFaults", env: faults("the leader is killed", "once"),
		found: `delivered as .* and as |` + diverged,
	},
	{
		name: "a follower does not know that a job is locked",
		edits: []edit{{
			"internal/core/shardstate/machine.go",
			"\t\t\tq.lease(&l, true)\n",
			"\t\t\t_ = l\n",
		}},
		in: "crash", test: "TestClusterFaults", env: faults("the leader is killed", "jobs"),
		found: `was accepted after|which was given later|there is no order in which all of this can have happened|` + diverged,
	},
	{
		name: "a follower does not take tasks out of semaphores",
		edits: []edit{{
			"internal/semaphores/replay.go",
			"\t\t\tt.take(s, id)\n",
			"\t\t\t_ = id\n",
		}},
		in: "crash", test: "TestClusterFaults", env: faults("the leader is killed", "semaphores"),
		found: `at the end, may be|where at most|` + diverged,
	},
	{
		name: "of a transaction over several shards the first part is replicated",
		edits: []edit{{
			"internal/replica/propose.go",
			"e.data = appendBatch(e.data, p.group)",
			"e.data = appendBatch(e.data, p.group[:1])",
		}},
		in: "crash", test: "TestClusterFaults", env: faults("the leader is killed", "sql"),
		found: `half applied|` + lost + `|` + diverged,
	},
	{
		name: "a new leader takes messages for new",
		edits: []edit{{
			"internal/broker/shard/recover.go",
			"\t\tif !sh.clean {\n\t\t\tq.state.MarkAllRedelivered()\n\t\t}\n",
			"",
		}},
		in: "crash", test: "TestClusterFaults", env: faults("the leader is killed", "plain"),
		found: `delivered again without the redelivered flag`,
	},
	{
		name: "messages that may have been delivered come in the order of a stack",
		edits: []edit{{
			"internal/core/queue/state.go",
			"\treturn c, c.state[Ready-1].from(0)\n",
			"\tif last := c.state[Ready-1].last(); c.redelivered.has(last) {\n\t\treturn c, last\n\t}\n\treturn c, c.state[Ready-1].from(0)\n",
		}},
		in: "crash", test: "TestClusterFaults", env: faults("the leader is killed", "plain"),
		found: `delivered after #\d+ of its publisher`,
	},
	{
		name: "a checkpoint, and with it a snapshot, has only queues of which messages are out",
		edits: []edit{{
			"internal/core/shardstate/checkpoint.go",
			"if st.Ready()+st.Unacked()+st.Scheduled()+st.Blocked() > 0 {",
			"if st.Unacked()+st.Scheduled()+st.Blocked() > 0 {",
		}},
		in: "cluster", test: "TestAloneBefore",
		found: `got \[|` + diverged,
	},
	{
		name: "the level of the log is raised when no node is below it",
		edits: []edit{{
			"internal/replica/gate.go",
			"c.out.newest(node) <= m.level {",
			"c.out.newest(node) < m.level {",
		}},
		in: "cluster", test: "TestRollingUpgrade",
		found: `the log is not at level 1|the node cannot go on: level: not supported`,
	},
	{
		name: "a confirm leaves before the message is written",
		edits: []edit{{
			"internal/broker/shardlog/writer.go",
			"\tw.Append(p.group, p.finished)\n",
			"\tp.confirms.Tell()\n\tw.Append(p.group, p.finished)\n",
		}},
		in: "crash", test: "TestCrash/plain", env: kills,
		found: lost,
	},
	{
		name: "the acknowledgement of a single message is not logged",
		edits: []edit{{
			"internal/core/shardstate/recorder.go",
			"\tif r.persisted {\n\t\tr.noteSettled(q, h, n)\n",
			"\tif r.persisted && n > 1 {\n\t\tr.noteSettled(q, h, n)\n",
		}},
		in: "crash", test: "TestCrash/plain", env: kills,
		found: `came back after its acknowledgement was committed`,
	},
	{
		name: "the key of a message is not logged",
		edits: []edit{{
			"internal/core/shardstate/recorder.go",
			"\tr.data = appendKey(r.begin(), q.ID, k)\n\tr.sub++\n",
			"",
		}},
		in: "crash", test: "TestCrash/once", env: kills,
		found: `delivered as .* and as `,
	},
	{
		name: "a return is not counted after a restart",
		edits: []edit{{
			"internal/core/shardstate/machine.go",
			"\t\tq.giveBack(s.handle, q.State.Given(s.handle, s.n), s.extra)\n",
			"\t\tif s.extra > 0 {\n\t\t\tq.giveBack(s.handle, q.State.Given(s.handle, s.n), s.extra)\n\t\t}\n",
		}},
		in: "crash", test: "TestCrash/limited", env: kills,
		found: `returns were promised to count`,
	},
}
