#!/usr/bin/env node
// Starts the program that npm has installed for this processor, with the same arguments, streams, signals and exit status.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `finecomb-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/comb`);
} catch {
  console.error(`comb: the package ${name} is not installed: run npm install without --omit=optional, on Linux with glibc`);
  process.exit(2);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends an interrupt to both. The program ends, and sets the exit status.
process.on("SIGINT", () => {});
for (const signal of ["SIGHUP", "SIGTERM"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`comb: ${program}: ${error.message}`);
  process.exit(2);
});
child.on("exit", (status, signal) => process.exit(signal ? 128 + constants.signals[signal] : status));
