import { scriptArguments } from '../script-arguments.ts';
import { abort } from './figures/abort.ts';
import { breaker } from './figures/breaker.ts';
import { memory, memoryMixes } from './figures/memory.ts';
import { overload } from './figures/overload.ts';
import { refusals } from './figures/refusals.ts';
import { resets } from './figures/resets.ts';
import { slowloris } from './figures/slowloris.ts';

const figures = new Map<string, () => Promise<void>>([
  ['overload', overload],
  ['slowloris', slowloris],
  ['breaker', breaker],
  ['abort', abort],
  ['memory', memory],
  ['refusals', refusals],
  ['resets', resets],
]);
/** Possible names, including parts of a figure. */
const known = new Map([...figures, ...memoryMixes]);
const names = [...known.keys()].join(', ');

const help = `npm run fire:figures [-- NAME … --help]

Measures the figures of docs/security.md, each in one run. Asserts only memory, because machines are noisy. Compare
ratios within a run.

  NAME    measure only this figure: ${names}
  --help  print this help`;

const { positionals } = scriptArguments(help, { allowPositionals: true });
const unknown = positionals.find((name) => !known.has(name));
if (unknown !== undefined) {
  console.error(`expected one of ${names}, got ${unknown}`);
  process.exitCode = 2;
} else for (const name of positionals.length === 0 ? figures.keys() : positionals) await known.get(name)?.();
