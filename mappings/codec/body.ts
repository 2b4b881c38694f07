import type { Limits } from '../limits.ts';
import type { Contract, Operation } from '../model.ts';
import type { CredentialValues, Input } from './call.ts';
import { membersBody } from './members.ts';

/** What goes upstream after a call's head. */
export interface WrittenBody {
  readonly mediaType: string;
  readonly content: string | Buffer;
}

/** The body of a call; undefined where it has none. */
export type WriteBody = (input: Input, credentials: CredentialValues | undefined) => WrittenBody | undefined;

/** How an operation's inputs become its upstream body. */
export function compileBody(
  contract: Contract,
  { upstream: { body } }: Operation,
  slots: ReadonlyMap<string, number>,
  limits: Limits,
): WriteBody {
  const { credentials } = contract;
  if (body.kind === 'none') return () => undefined;
  const { mediaType } = body;
  if (body.kind === 'members') {
    const member = credentials?.send === 'body' ? credentials.member : undefined;
    return (input, values) => ({ mediaType, content: membersBody(input, member, values, limits) });
  }
  const slot = slots.get(body.field) ?? -1;
  return ({ reading }) => {
    const content = reading.slots[slot];
    return content === undefined ? undefined : { mediaType, content };
  };
}
