"use strict";
// Run the browser's checker under node: lines of JSON [certificate, data, options] in, verdicts out.
const fs = require("fs");
const { check } = require("../../src/rectiline/reports/checker.js");

async function main() {
  for (const line of fs.readFileSync(0, "utf-8").split("\n").filter(Boolean)) {
    const [certificate, data, options] = JSON.parse(line);
    const read = (path) => (path ? new Uint8Array(fs.readFileSync(path)) : null);
    console.log(JSON.stringify(await check(read(certificate), read(data), options)));
  }
}
main();
