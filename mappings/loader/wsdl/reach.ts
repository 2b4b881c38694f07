import type {
  AdoptedMessage,
  AdoptedOperation,
  ElementDeclaration,
  Particle,
  SchemaType,
} from '../../contract/schema-components.ts';
import type { Allowance } from '../document/allowance.ts';
import type { BrokenLocation } from './documents.ts';
import { type Findings, placed } from './findings.ts';

/** How many operations are looked through for what they reach; of more, those that come after aren't counted. */
const mostSteps = 1_000_000;

/** What can't be found is wrong, with the number of operations that reach it; a name that none reaches is warned of (A2). */
export function describeMissed(
  operations: readonly AdoptedOperation[],
  broken: readonly BrokenLocation[],
  allowance: Allowance,
  findings: Findings,
): void {
  const counts = reachCounts(operations, allowance, findings);
  const byNamespace = new Map<string, number>();
  for (const { problem, name, owner } of findings.missed) {
    const count = owner === undefined ? 1 : (counts.get(owner) ?? 0);
    byNamespace.set(name.namespace, (byNamespace.get(name.namespace) ?? 0) + count);
    const message = `${problem.message}; ${reaching(count)} it`;
    if (count > 0) findings.problems.push({ ...problem, message });
    else findings.warnProblem({ ...problem, message });
  }
  for (const { at, namespace, message } of broken)
    findings.problems.push(
      placed(at, `${message}; ${reaching(byNamespace.get(namespace) ?? 0)} what it lacks`),
    );
}

function reaching(count: number): string {
  return count === 1 ? '1 operation reaches' : `${count === 0 ? 'no' : count} operations reach`;
}

/** The operations that reach each component in which something is missing. */
function reachCounts(
  operations: readonly AdoptedOperation[],
  allowance: Allowance,
  findings: Findings,
): ReadonlyMap<object, number> {
  const owners = new Set(findings.missed.map(({ owner }) => owner).filter((owner) => owner !== undefined));
  const counts = new Map<object, number>();
  if (owners.size === 0) return counts;
  let steps = 0;
  for (const operation of operations) {
    if (steps > mostSteps) break;
    const reached = reachedBy(operation);
    steps += reached.size;
    allowance.step('', Math.ceil(reached.size / 16));
    for (const one of reached) if (owners.has(one)) counts.set(one, (counts.get(one) ?? 0) + 1);
  }
  return counts;
}

/** The types and elements that an operation's messages may hold, derived types and substitutes among them. */
function reachedBy({
  input,
  output,
  faults,
}: AdoptedOperation): ReadonlySet<SchemaType | ElementDeclaration> {
  const reached = new Set<SchemaType | ElementDeclaration>();
  for (const message of [input, output]) if (message !== undefined) addMessage(message, reached);
  for (const { element } of faults) reached.add(element);
  // grows meanwhile
  for (const one of reached) {
    if ('substitutes' in one) {
      reached.add(one.type);
      for (const substitute of one.substitutes) reached.add(substitute);
    } else addType(one, reached);
  }
  return reached;
}

function addMessage({ body, headers }: AdoptedMessage, reached: Set<SchemaType | ElementDeclaration>): void {
  for (const header of headers) reached.add(header);
  if (body.kind === 'element') reached.add(body.element);
  if (body.kind === 'rpc') for (const part of body.parts) reached.add(part);
}

function addType(type: SchemaType, reached: Set<SchemaType | ElementDeclaration>): void {
  if (type.base !== undefined) reached.add(type.base);
  if (type.kind === 'simple') {
    if (type.variety.kind === 'list') reached.add(type.variety.item);
    if (type.variety.kind === 'union') for (const member of type.variety.members) reached.add(member);
    return;
  }
  for (const derived of type.derived) reached.add(derived);
  for (const attribute of type.attributes) reached.add(attribute.type);
  const { content } = type;
  if (content.kind === 'text') reached.add(content.type);
  if (content.kind === 'encodedArray') reached.add(content.item);
  if (content.kind === 'map')
    for (const element of [content.item, content.key, content.value]) reached.add(element);
  if (content.kind === 'elements') addParticle(content.particle, reached);
}

function addParticle(particle: Particle, reached: Set<SchemaType | ElementDeclaration>): void {
  if (particle.kind === 'element') reached.add(particle.element);
  else if (particle.kind !== 'any') for (const one of particle.particles) addParticle(one, reached);
}
