import { abort } from './figures/abort.ts';
import { breaker } from './figures/breaker.ts';
import { memory, memoryMixes } from './figures/memory.ts';
import { overload } from './figures/overload.ts';
import { refusals } from './figures/refusals.ts';
import { resets } from './figures/resets.ts';
import { slowloris } from './figures/slowloris.ts';

// `npm run fire:figures [-- overload memory]`: what docs/security.md publishes, all of it or what is named, measured in one
// run each. Nothing is asserted but how much memory is taken: machines are noisy, ratios within a run are what counts.

const figures = new Map<string, () => Promise<void>>([
  ['overload', overload],
  ['slowloris', slowloris],
  ['breaker', breaker],
  ['abort', abort],
  ['memory', memory],
  ['refusals', refusals],
  ['resets', resets],
]);
const wanted = process.argv.slice(2);
for (const name of wanted.length === 0 ? figures.keys() : wanted) {
  const measure = figures.get(name) ?? memoryMixes.get(name);
  if (measure === undefined)
    throw new Error(`expected one of ${[...figures.keys(), ...memoryMixes.keys()].join(', ')}, got ${name}`);
  await measure();
}
