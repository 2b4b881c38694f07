import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** What new objects may take; V8 itself lets them have up to 32. */
const youngMegabytes = 8;

/**
 * Keeps V8's young generation small. Each of its collections copies what is in use and stops everything meanwhile: of two
 * thousand connections it had 17 ms to copy, once a second. Of 8 MB it has 5, twice a second. V8's flag for the size itself
 * is read at the start of a process only. That for its growth is read each time: it grows to 8 MB here, and then no more.
 *
 * @param everyMs how often it is looked whether memory was given back, and it has to grow again
 */
export function boundYoungGeneration(everyMs: number = 100): void {
  growYoungGeneration();
  setInterval(boundGrowth, everyMs).unref();
}

/** For a thread, which begins with 1 MB and would stay there, as flags are those of the whole process. */
export function growYoungGeneration(): void {
  boundGrowth();
  // V8 grows it in a collection that finds as much in use as it has: some 20,000 objects
  const objects: object[] = [];
  while (growth() > 1 && objects.length < mostObjects)
    for (let count = 0; count < 1_000; count++) objects.push({ count });
  boundGrowth();
}

/** Where V8 doesn't do as it is told. */
const mostObjects = 200_000;

/** By how much the young generation has to grow. */
function growth(): number {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  if (young === undefined) return 1;
  const bytes = young.space_used_size + young.space_available_size;
  return Math.max(1, Math.round((youngMegabytes * 1024 * 1024) / bytes));
}

function boundGrowth(): void {
  setFlagsFromString(`--semi-space-growth-factor=${growth()}`);
}
