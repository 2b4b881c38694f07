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

What docs/security.md publishes, all of it or what is named, measured in one run each. Nothing is asserted but how much memory is
taken: machines are noisy, ratios within a run are what counts.

  NAME    one of ${names}
  --help  this`;

const { positionals } = scriptArguments(help, { allowPositionals: true });
const unknown = positionals.find((name) => !known.has(name));
if (unknown !== undefined) {
  console.error(`expected one of ${names}, got ${unknown}`);
  process.exitCode = 2;
} else for (const name of positionals.length === 0 ? figures.keys() : positionals) await known.get(name)?.();
