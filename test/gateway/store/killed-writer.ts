import { openStore } from '../../../gateway/store/open-store.ts';

// Writes two rows per transaction to the store of the first argument until it is killed.

const log = { info: () => {}, warn: () => {}, error: () => {} };
const store = await openStore({ url: process.argv[2] ?? '', storeMs: 5_000, log });
const sql = 'INSERT INTO meta (name, value) VALUES ($1, $2)';
for (let number = 0; ; number++) {
  await store.write(['a', 'b'].map((part) => ({ sql, values: [`row${number}${part}`, 'v'] })));
  if (number === 20) process.stdout.write('written\n');
}
