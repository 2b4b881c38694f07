#!/usr/bin/env node
import { enableCompileCache } from 'node:module';

// Node strips types from files outside node_modules only: the packed artefact runs its build, a clone its source.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(
    `soapbridge needs Node 22.18 or newer, got ${process.versions.node}; npm scripts and npx bring their own`,
  );
  process.exit(2);
}
enableCompileCache(); // the second start reads what the first one compiled
const packed = import.meta.url.includes('/node_modules/');
const { main } = await import(packed ? '../dist/gateway/commands/cli.js' : '../gateway/commands/cli.ts');
await main(process.argv);
