import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import test from 'ava';

const module = new URL('../../../gateway/workers/young-generation.ts', import.meta.url).href;

test('the young generation stays at 8 MB, however much is in use of what is new', async (t) => {
  const program = (bound: string): string => `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { boundYoungGeneration } from '${module}';
    const young = () => {
      const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
      return Math.round((space.space_used_size + space.space_available_size) / 1024 / 1024);
    };
    ${bound}
    const seen = [young()];
    let kept = [];
    for (let round = 0; round < 100; round++) {
      for (let count = 0; count < 20_000; count++) kept.push({ count, list: [count] });
      if (kept.length > 300_000) kept = kept.slice(200_000);
    }
    seen.push(young());
    console.log(JSON.stringify(seen));`;
  const tell = async (bound: string): Promise<unknown> => {
    const args = ['--input-type=module', '-e', program(bound)];
    return JSON.parse((await promisify(execFile)(process.execPath, args)).stdout);
  };
  t.deepEqual(await tell('boundYoungGeneration();'), [8, 8]);
  const [first, last] = (await tell('')) as [number, number];
  t.true(first < 8 && last > 8, `${first} ${last}`);
});
