const { randomBytes } = require("crypto");
const { Readable } = require("stream");

// createRandomStream returns a stream of random bytes that does not end.
exports.createRandomStream = () => new Readable({ read(size) { this.push(randomBytes(size)); } });
