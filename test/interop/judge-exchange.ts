import type { Exchange } from '../plain/exchange-files.ts';
import type { Version } from './checks.ts';
import type { ExchangeGap } from './known-gaps.ts';
import type { Finished } from './run-command.ts';
import type { Stack } from './stacks.ts';
import { difference, type Loss, readTree, type Tree } from './tree.ts';

/** An exchange of test/documents and the client that made it. */
export interface Judged {
  readonly stack: Stack;
  readonly version: Version;
  readonly document: string;
  readonly exchange: string;
}

/** Result of an exchange made by a stack's client. */
export interface Made extends Judged {
  /** `gap`: fails for a known reason. */
  readonly outcome: 'passed' | 'failed' | 'gap';
  /** The problem, or the gap's reason. */
  readonly why?: string;
  /** Losses of the client's API that affected this exchange. */
  readonly lost: readonly Loss[];
}

/** A line of a client's output: one exchange in one version. */
interface Line {
  readonly name: string;
  readonly version: Version;
  /** Content of the reply's element. */
  readonly got?: Tree;
  /** The code is absent if the stack does not report it. */
  readonly fault?: { readonly code?: string; readonly message: string };
  /** Reason why there is no result. */
  readonly error?: string;
}

/** Judges an exchange by the line that the client printed. */
export function judgeExchange(
  judged: Judged,
  exchange: Exchange,
  finished: Finished,
  gaps: readonly ExchangeGap[],
): Made {
  const losses = judged.stack.losses ?? [];
  const problemWith = (known: readonly Loss[]): string | undefined =>
    problemOf(exchange, judged.version, lineOf(finished, judged), known);
  const problem = problemWith(losses);
  const gap = gaps.find((known) => covers(known, judged));
  if (gap !== undefined && problem !== undefined)
    return { ...judged, outcome: 'gap', why: gap.reason, lost: [] };
  const why = gap === undefined ? problem : 'passes, but known-gaps.ts says that it can’t';
  if (why !== undefined) return { ...judged, outcome: 'failed', why, lost: [] };
  const lost = losses.filter((loss) => problemWith(losses.filter((other) => other !== loss)) !== undefined);
  return { ...judged, outcome: 'passed', lost };
}

/** Returns losses in a stack.json that no exchange showed, because they were fixed or are not tested. */
export function unseenLosses(made: readonly Made[]): readonly string[] {
  const stacks = [...new Set(made.map(({ stack }) => stack))];
  return stacks.flatMap(({ name, losses = [] }) => {
    const seen = made.filter(({ stack }) => stack.name === name).flatMap(({ lost }) => lost);
    return losses
      .filter((loss) => !seen.includes(loss))
      .map((loss) => `${name}/stack.json: expected an exchange in which "${loss}" matters, got none`);
  });
}

function covers(gap: ExchangeGap, { stack, version, document, exchange }: Judged): boolean {
  return (
    gap.stack === stack.name &&
    gap.document === document &&
    gap.exchange === exchange &&
    (gap.version === undefined || gap.version === version)
  );
}

function lineOf({ output, errors }: Finished, { exchange, version }: Judged): Line {
  const lines = output.split('\n').filter((text) => text.startsWith('{'));
  const found = lines
    .map((text): Line => JSON.parse(text))
    .find((line) => line.name === exchange && line.version === version);
  return found ?? { name: exchange, version, error: `no line of it; ${errors.trim().slice(-500)}` };
}

/** Returns the difference from `reply.xml`, or undefined. Losses of the client's API are ignored. */
function problemOf(
  { reply }: Exchange,
  version: Version,
  { got, fault, error }: Line,
  losses: readonly Loss[],
): string | undefined {
  if (error !== undefined) return `expected a reply, got ${error}`;
  if (!reply.includes('<faultcode>')) {
    return got === undefined
      ? `expected a reply, got the fault ${JSON.stringify(fault)}`
      : difference(readTree(reply), got, losses);
  }
  if (fault === undefined) return `expected a fault, got ${JSON.stringify(got)}`;
  const expected = faultIn(reply, version);
  const message = fault.message.replace(/ \(request [\w-]+\)$/, '');
  return difference(
    { code: [expected.code], message: [expected.message] },
    { code: [fault.code ?? expected.code], message: [message] },
  );
}

const codesOf12: Readonly<Record<string, string>> = { Client: 'Sender', Server: 'Receiver' };

/** `reply.xml` is of SOAP 1.1. */
function faultIn(reply: string, version: Version): { readonly code: string; readonly message: string } {
  const told = readTree(reply);
  const at = (name: string): string => {
    const [value] = typeof told === 'object' && told !== null && !('is' in told) ? (told[name] ?? []) : [];
    return typeof value === 'string' ? value : '';
  };
  const code = at('faultcode').replace(/^.*:/, '');
  return {
    code: version === '1.1' ? code : (codesOf12[code] ?? code),
    message: at('faultstring'),
  };
}
