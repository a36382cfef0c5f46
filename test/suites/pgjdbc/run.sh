#!/bin/sh
# pgjdbc: the tests of its source package that need a server but no tables.
. ../lib.sh
VERSION=42.7.8
TESTS=QueryExecutorTest,NativeQueryBindLengthTest,OidValuesCorrectnessTest,ParameterInjectionTest,ConnectionValidTest,HStoreTest,ClientEncodingTest
TESTS=$TESTS,ConcurrentStatementFetchTest,DatabaseMetaDataCacheTest,DatabaseMetaDataPropertiesTest,DateStyleTest,DriverTest,EncodingTest,MiscTest
TESTS=$TESTS,NumericTransferTest,NumericTransfer2Test,OuterJoinSyntaxTest,ParameterStatusTest,QuotationTest,ReplaceProcessingTest
TESTS=$TESTS,StringTypeUnspecifiedArrayTest,TestACL,CompositeQueryParseTest,BinaryTest,ClientInfoTest,ConnectionValidTimeoutTest,IsValidTest
TESTS=$TESTS,PGCopyInputStreamTest,WrapperTest,AbortTest,NetworkTimeoutTest,CustomizeDefaultFetchSizeTest,GetObject310InfinityTest,SimpleJdbc42Test
TESTS=$TESTS,ServerVersionTest,SocketTimeoutTest
fetch() {
	mvn -B -q dependency:copy "-Dartifact=org.postgresql:postgresql:$VERSION:tar.gz:jdbc-src" "-DoutputDirectory=$DIR"
	mkdir "$DIR/src"
	tar xzf "$DIR/postgresql-$VERSION-jdbc-src.tar.gz" -C "$DIR/src" --strip-components 1
	cd "$DIR/src"
	mvn -B -q test-compile -DskipShadeDependencies=true
}
run() {
	cd "$DIR/src"
	rm -rf target/surefire-reports
	url=${DATABASE_URL#postgres://}
	user=${url%%@*} address=${url#*@}
	database=${address#*/}
	address=${address%%/*}
	cat >build.local.properties <<-END
		test.url.PGHOST=${address%:*}
		test.url.PGPORT=${address#*:}
		test.url.PGDBNAME=${database%%\?*}
		user=${user%%:*}
		password=
		privilegedUser=${user%%:*}
	END
	mvn -B -q surefire:test -DskipShadeDependencies=true -Dmaven.test.failure.ignore=true "-Dtest=$TESTS"
	{
		echo '<testsuites>'
		for file in target/surefire-reports/TEST-*.xml; do sed 1d "$file"; done
		echo '</testsuites>'
	} >"$REPORT"
}
"$1"
