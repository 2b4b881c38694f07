import { escapeXml } from '../../../mappings/codec/scalars/text.ts';
import type { FaultDetail } from '../../../mappings/contract/model.ts';
import type { ToldProblem } from '../../call/error.ts';

/** What the detail of a fault says, in the terms of HTTP and JSON. */
export interface FaultFacts {
  /** The HTTP status that a caller of JSON gets. */
  readonly status: number;
  /** The status that the service behind answered with; undefined where it wasn't asked, or gave no answer. */
  readonly upstreamStatus: number | undefined;
  readonly code: string;
  readonly message: string;
  readonly requestId: string;
  readonly problems: readonly ToldProblem[];
  /** The error of the service behind, as JSON; undefined where there is none, or it isn't told. */
  readonly upstream: string | undefined;
}

/**
 * The detail's one element, as `faultSchema` in `wsdl/schema.ts` declares it: a program reads from it what people read
 * from the fault's text.
 *
 * @param namespace that of the contract's types
 */
export function writeFaultDetail({ element }: FaultDetail, namespace: string, facts: FaultFacts): string {
  const problems = facts.problems.map(({ path, code, message, expected, got }) => {
    return `<problem>${elementsOf({ path, code, message, expected, got })}</problem>`;
  });
  const { status, upstreamStatus, code, message, requestId, upstream } = facts;
  const content =
    elementsOf({ status, upstreamStatus, code, message, requestId }) +
    (problems.length === 0 ? '' : `<problems>${problems.join('')}</problems>`) +
    elementsOf({ upstream });
  return `<${element} xmlns="${escapeXml(namespace, { replaced: 0 })}">${content}</${element}>`;
}

/** An element for each member that there is. */
function elementsOf(members: Readonly<Record<string, string | number | undefined>>): string {
  let text = '';
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined) text += `<${name}>${escapeXml(String(value), { replaced: 0 })}</${name}>`;
  }
  return text;
}
