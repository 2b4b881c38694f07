import { compileContract } from '../../mappings/compile.ts';
import { readContract } from '../../mappings/loader/load.ts';

/** Loads and compiles the contract of a folder, and prints time and memory. */
const [, , folder = ''] = process.argv;
const started = performance.now();
const { operations } = compileContract(readContract(folder).contract);
const ms = performance.now() - started;
const peakMegabytes = process.resourceUsage().maxRSS / 1024;
console.log(JSON.stringify({ operations: operations.size, ms, peakMegabytes }));
