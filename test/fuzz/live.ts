import type { FuzzOptions, FuzzResult } from './fuzz.ts';
import { Random } from './random.ts';

/** A fuzz target that is a running process with sockets. */
export interface LiveTarget {
  readonly name: string;
  /** Generates an input with the target's grammar. */
  readonly make: (random: Random) => string;
  readonly open: () => Promise<LiveSession>;
}

export interface LiveSession {
  /** Executes an input and returns a fault of the process, or undefined. */
  readonly run: (input: Buffer) => Promise<string | undefined>;
  readonly close: () => Promise<void>;
}

/** Fuzzes a process with the corpus and then with generated inputs. The process is restarted after a finding. */
export async function fuzzLive(target: LiveTarget, options: FuzzOptions): Promise<FuzzResult> {
  const random = new Random(options.seed);
  const waiting = [...options.corpus];
  let executions = 0;
  let session = await target.open();
  while (waiting.length > 0 || !options.isOver(executions)) {
    const input = waiting.shift() ?? Buffer.from(target.make(random));
    options.onInput?.(input);
    executions++;
    const finding = await session.run(input);
    if (finding === undefined) continue;
    options.onFinding(input, finding);
    await session.close();
    session = await target.open();
  }
  await session.close();
  return { executions, judged: executions, slowest: 0, covered: 0, kept: [] };
}
