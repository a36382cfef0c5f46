// Runs the tests as test/index.js does, and writes JUnit to the file that the argument names.
const { writeFileSync } = require("fs");
const { Harness, Suite, syntax } = require("zunit");

const escape = (text) => String(text).replace(/[<>&"]/g, (c) => `&#${c.charCodeAt(0)};`);

const element = (node) => {
	const children = node.isTest() ? outcome(node) : node.children.map(element).join("\n");
	const kind = node.isTest() ? "testcase" : "testsuite";
	return `<${kind} name="${escape(node.name)}">${children}</${kind}>`;
};

const outcome = (test) => {
	if (test.failed) return `<failure>${escape(test.errors.map((e) => e.stack || e).join("\n"))}</failure>`;
	return test.skipped ? "<skipped/>" : "";
};

// A failed assertion in a callback of the client fails only its case, by a timeout.
process.on("uncaughtException", (error) => console.error(error));

Object.assign(global, syntax);
const suite = new Suite("rascal").discover({ pattern: /\w+\.tests\.js/ });
new Harness(suite).run().then((report) => {
	writeFileSync(process.argv[2], `<testsuites>${element(report)}</testsuites>`);
	process.exit();
});
