import { escapeXml } from '../../../mappings/codec/scalars/text.ts';
import type { FaultDetail } from '../../../mappings/contract/model.ts';
import type { ReportedProblem } from '../../call/error.ts';

/** Content of a fault's detail. */
export interface FaultFacts {
  /** The HTTP status that a JSON caller gets. */
  readonly status: number;
  /** The status of the upstream's response; undefined without a response. */
  readonly upstreamStatus: number | undefined;
  readonly code: string;
  readonly message: string;
  readonly requestId: string;
  readonly problems: readonly ReportedProblem[];
  /** The error of the upstream as JSON; undefined if it is missing or must not be shown. */
  readonly upstream: string | undefined;
}

/**
 * Writes the element of a fault's detail, as declared by `faultSchema` in `wsdl/schema.ts`. It gives programs the
 * content of the fault's text.
 *
 * @param namespace namespace of the contract's types
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

/** Writes an element for each defined member. */
function elementsOf(members: Readonly<Record<string, string | number | undefined>>): string {
  let text = '';
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined) text += `<${name}>${escapeXml(String(value), { replaced: 0 })}</${name}>`;
  }
  return text;
}
