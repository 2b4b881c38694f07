import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { median } from './process.ts';

/** Time of the second tree relative to the first, by message. */
export type Ratios = Readonly<Record<string, number>>;

/** Message sizes in megabytes. */
const sizes = [0.001, 0.016, 0.25];
/**
 * Bytes measured before switching trees. One measurement takes some milliseconds, so that load of the machine affects
 * both trees equally.
 */
const bytesPerTurn = 300_000;
const warmUpRounds = 60;
const rounds = 120;

/**
 * Compares the codecs of two trees in this process, alternately, and prints JSON of {@link Ratios}. Usage: `node
 * bench/codecs-alternately.ts TREE OTHER`. `bench/against.ts --codecs` runs it in both orders, since the code of the tree
 * loaded first is compiled first.
 */
async function ratiosOf(first: string, second: string): Promise<Ratios> {
  const from = (tree: string, file: string): string => pathToFileURL(join(tree, 'bench', file)).href;
  const codecsOf = async (tree: string) => {
    const { screeningCodecs }: typeof import('./codecs.ts') = await import(from(tree, 'codecs.ts'));
    return screeningCodecs();
  };
  const { searchReply, subUserRequest }: typeof import('./messages.ts') = await import(
    from(first, 'messages.ts')
  );
  const one = await codecsOf(first);
  const other = await codecsOf(second);
  const { types, arrays } = one.namespaces;
  const ratios: Record<string, number> = {};
  for (const size of sizes) {
    const reply = Buffer.from(searchReply(size));
    ratios[`JSON→XML (GetSearch reply), ${size} MB`] = ratioOf(reply, one.toXml, other.toXml);
    const request = Buffer.from(subUserRequest(size, types, arrays));
    ratios[`XML→JSON (UpdateSubUser request), ${size} MB`] = ratioOf(request, one.toJson, other.toJson);
  }
  return ratios;
}

type Run = (bytes: Buffer) => unknown;

function ratioOf(bytes: Buffer, one: Run, other: Run): number {
  const times = Math.max(1, Math.round(bytesPerTurn / bytes.length));
  const time = (run: Run): number => {
    const started = performance.now();
    for (let count = 0; count < times; count++) run(bytes);
    return performance.now() - started;
  };
  const ratios: number[] = [];
  for (let round = -warmUpRounds; round < rounds; round++) {
    const isSwapped = round % 2 !== 0;
    const early = time(isSwapped ? other : one);
    const late = time(isSwapped ? one : other);
    if (round >= 0) ratios.push(isSwapped ? early / late : late / early);
  }
  return median(ratios);
}

const [tree = '.', other = '.'] = process.argv.slice(2);
if (import.meta.main) console.log(JSON.stringify(await ratiosOf(resolve(tree), resolve(other))));
