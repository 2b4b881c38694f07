import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';

/**
 * Starts the gateways of several trees in one process and prints the port of each. Usage: `node gateways.ts UPSTREAM
 * TREE...`
 */
const [upstreamUrl, ...trees] = process.argv.slice(2);
const ports: number[] = [];
for (const tree of trees) {
  const from = (file: string): string => pathToFileURL(join(tree, file)).href;
  const { serve }: typeof import('../../gateway/process/serve.ts') = await import(
    from('gateway/process/serve.ts')
  );
  const { screeningContract }: typeof import('../../mappings/loader/load.ts') = await import(
    from('mappings/loader/load.ts')
  );
  const running = await serve({
    contract: screeningContract,
    host: '127.0.0.1',
    port: 0,
    upstreamUrl,
    upstreamDatabase: undefined,
    publicUrl: undefined,
    trustedProxies: [],
    logLevel: 'info',
    drainDelayMs: 0,
    logTo: new Writable({ write: (_chunk, _encoding, done) => done() }),
  });
  ports.push(Number(new URL(running.url).port));
}
console.log(`ports ${ports.join(' ')} ready`);
