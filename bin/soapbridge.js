#!/usr/bin/env node
// An old Node must be able to parse this file: nothing is imported before the version check, and no newer syntax is
// used.
const version = process.versions.node;
const numbers = version.split('.').map(Number);
if (numbers[0] < 22 || (numbers[0] === 22 && numbers[1] < 19)) {
  console.error(`soapbridge needs Node 22.19 or newer, and this is Node ${version}.`);
  process.exitCode = 1;
} else start();

async function start() {
  const { enableCompileCache } = await import('node:module');
  enableCompileCache(); // stores compiled code for later starts
  // Node does not strip types in node_modules: an installed package runs its build, a clone runs its sources.
  const packed = import.meta.url.includes('/node_modules/');
  const { main } = await import(packed ? '../dist/gateway/commands/cli.js' : '../gateway/commands/cli.ts');
  await main(process.argv);
}
