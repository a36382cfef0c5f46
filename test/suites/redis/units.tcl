# units.tcl HOST PORT REPORT UNIT...: runs units of Redis' own test suite against a running server. It
# must be started in the suite's source folder. The suite's own driver begins with FLUSHALL, FUNCTION
# FLUSH and CONFIG SET, and stops at the first unknown command. This one deletes the existing keys,
# leaves settings alone, and continues with the next test. Tests, helpers and the client are the
# suite's.
set files {}
foreach name {redis.tcl util.tcl test.tcl} { lappend files tests/support/$name }
set argv_ $argv
set ::skiptests [split $env(SKIP) \n]
set ::opened {}
set argv {}
foreach {var value} {
	cur_test {} curfile {} tags {} denytags {needs:debug needs:repl needs:save} allowtags {} only_tests {} servers {} tests_failed {}
	external 1 durable 1 singledb 1 tls 0 valgrind 0 accurate 0 traceleaks 0 verbose 0 quiet 0 stop_on_failure 0 cluster_mode 0
	ignoreencoding 1 ignoredigest 1 large_memory 0 no_latency 1 loop 0 numclients 1 force_failure 0
	num_tests 0 num_passed 0 num_failed 0 num_skipped 0 num_aborted 0 test_server_fd {} last_progress 0 timeout 1200
} { set ::$var $value }

# The procedures of the driver that tests call: srv, r, redis_deferring_client and the like.
set helper [open tests/test_helper.tcl]
set lines [split [read $helper] \n]
close $helper
proc take {name} {
	set at [lsearch $::lines "proc $name *"]
	set code [lindex $::lines $at]
	while {![info complete $code]} { append code \n [lindex $::lines [incr at]] }
	uplevel #0 $code
}
foreach name {srv r Rn R reconnect redis_deferring_client redis_client s} { take $name }
foreach file $files { source $file }
rename redis_deferring_client deferring_client
proc redis_deferring_client {args} { lindex [lappend ::opened [deferring_client {*}$args]] end }
set server [open tests/support/server.tcl]
set lines [split [read $server] \n]
close $server
foreach name {tags_acceptable tags} { take $name }
set ::host [lindex $argv_ 0]
set ::port [lindex $argv_ 1]
set argv $argv_

# The results for the driver go into the report, and the name of each test that begins to standard
# error.
set ::cases {}
proc text {s} { string map {& &amp; < &lt; > &gt; \" &quot;} [regsub -all {[^\n\t -~]} $s ?] }
proc send_data_packet {fd status {data {}} {elapsed {}}} {
	switch $status {
		testing {
			puts stderr "$::unit: $data"
			set ::opened {}
		}
		ok { lappend ::cases $::unit $data {} }
		err {
			regexp {^(.*?) in tests/unit} [lindex [split $data \n] 0] _ name
			lappend ::cases $::unit $name "<failure message=\"[text [string range $data 0 2000]]\"/>"
			# Ends what the test left open: a transaction, or waiting clients.
			foreach client $::opened { catch { $client close } }
			reconnect
		}
		skip - ignore { lappend ::cases $::unit [lindex [split $data :] 0] <skipped/> }
	}
}

proc clear {} {
	set keys [r keys *]
	if {$keys ne {}} { r del {*}$keys }
}

proc start_server {options {code undefined}} {
	set had $::tags
	foreach {option value} $options {
		if {$option eq {tags}} { set ::tags [concat $::tags [string map {\" {}} $value]] }
	}
	if {[tags_acceptable $::tags why]} {
		lappend ::servers [dict create host $::host port $::port client [redis $::host $::port 0 0] config [dict create port $::port]]
		clear
		if {[catch { uplevel 1 $code } error]} {
			append ::outside $error \n
		}
		catch { [srv 0 client] close }
		set ::servers [lrange $::servers 0 end-1]
	}
	set ::tags $had
}

proc run_solo {name code} { uplevel 1 $code }
proc test_log {args} {}

set report [open [lindex $argv 2] w]
puts $report <testsuites>
foreach ::unit [lrange $argv 3 end] {
	set ::curfile tests/unit/$::unit.tcl
	set ::outside {}
	source $::curfile
	lappend ::cases $::unit "(outside of tests)" [expr {$::outside eq {} ? {} : "<failure message=\"[text $::outside]\"/>"}]
}
set seen [dict create]
foreach {unit name outcome} $::cases {
	# Some names occur twice.
	dict incr seen "$unit $name"
	if {[dict get $seen "$unit $name"] > 1} { append name " ([dict get $seen "$unit $name"])" }
	puts $report "<testcase classname=\"$unit\" name=\"[text $name]\">$outcome</testcase>"
}
puts $report </testsuites>
close $report
