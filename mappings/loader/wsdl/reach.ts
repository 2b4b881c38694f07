import type { AdoptedOperation } from '../../contract/adopted.ts';
import {
  type ElementDeclaration,
  messageElements,
  type Particle,
  type SchemaType,
} from '../../contract/type-graph.ts';
import type { Allowance } from '../document/allowance.ts';
import type { ContractProblem } from '../document/error.ts';
import { addTo } from '../document/node.ts';
import type { BrokenLocation } from './documents.ts';
import { type Findings, placed } from './findings.ts';

/** Maximum number of components visited to count the operations that reach each flaw. */
const mostSteps = 1_000_000;

/** Maximum number of reasons for one operation. */
const mostReasons = 5;

/** Operations that need a missing or invalid part of the documents. */
export interface Incomplete {
  /** Operations with at least one reason each. */
  readonly operations: ReadonlyMap<AdoptedOperation, readonly ContractProblem[]>;
  /** All problems, if no operation can be served. Causes come first. */
  readonly problems: readonly ContractProblem[];
  /** Warnings, if an operation can be served: locations that were not followed, and flaws that no operation reaches. */
  readonly warnings: readonly ContractProblem[];
}

/**
 * Finds the operations that reach a flaw of the documents (A2).
 *
 * @param broken locations that were not followed
 */
export function findIncomplete(
  operations: readonly AdoptedOperation[],
  broken: readonly BrokenLocation[],
  allowance: Allowance,
  findings: Findings,
): Incomplete {
  const reached = new Reached(operations, allowance, findings);
  const byNamespace = new Map<string, number>();
  const [problems, unreached]: [ContractProblem[], ContractProblem[]] = [[], []];
  const byOwner = new Map<object, ContractProblem[]>();
  for (const flaw of findings.flaws) {
    const { owner, problem, name } = flaw;
    const isCollected = findings.isCollected(flaw);
    const count = isCollected ? 1 : reached.countOf(owner);
    if (name !== undefined) byNamespace.set(name.namespace, (byNamespace.get(name.namespace) ?? 0) + count);
    const reported =
      name === undefined ? problem : { ...problem, message: `${problem.message}; ${reaching(count)} it` };
    if (count > 0 || owner === undefined) problems.push(reported);
    if (count === 0) unreached.push(reported);
    if (owner !== undefined) addTo(byOwner, owner, problem);
  }
  const incomplete = new Map<AdoptedOperation, readonly ContractProblem[]>();
  for (const [operation, owners] of reached.incomplete)
    incomplete.set(operation, owners.flatMap((owner) => byOwner.get(owner) ?? []).slice(0, mostReasons));
  const causes = broken.map(({ at, namespace, message }) =>
    placed(at, `${message}; ${reaching(byNamespace.get(namespace) ?? 0)} the missing part`),
  );
  return {
    operations: incomplete,
    problems: once([...causes, ...(problems.length > 0 ? problems : unreached)]),
    warnings: [...causes, ...unreached],
  };
}

function once(problems: readonly ContractProblem[]): readonly ContractProblem[] {
  return [...new Map(problems.map((one) => [`${one.file}:${one.line} ${one.message}`, one])).values()];
}

function reaching(count: number): string {
  return count === 1 ? '1 operation reaches' : `${count === 0 ? 'no' : count} operations reach`;
}

/** Represents a type as the base of another. Flaws of the base affect a derived type, but not its sibling types. */
class Base {
  readonly type: SchemaType;

  constructor(type: SchemaType) {
    this.type = type;
  }
}

/** The owners of flaws that each operation reaches. */
class Reached {
  /** Operations with the flaw owners that they reach, at least one each. */
  readonly incomplete = new Map<AdoptedOperation, readonly object[]>();
  readonly #counts = new Map<object, number>();
  readonly #findings: Findings;
  /** A node for each owner. All components that have its flaws lead to the node. */
  readonly #nodes = new Map<object, { readonly owner: object }>();
  readonly #bases = new Map<SchemaType, Base>();

  constructor(operations: readonly AdoptedOperation[], allowance: Allowance, findings: Findings) {
    this.#findings = findings;
    for (const flaw of findings.flaws) {
      const { owner } = flaw;
      if (owner !== undefined && !findings.isCollected(flaw)) this.#nodes.set(owner, { owner });
    }
    if (this.#nodes.size === 0) return;
    const leading = this.#leadingTo(operations);
    let steps = 0;
    for (const operation of operations) {
      const roots = rootsOf(operation);
      const nearest = roots.map((root) => leading.get(root)).find((owner) => owner !== undefined);
      if (nearest === undefined) continue;
      if (steps > mostSteps) {
        this.incomplete.set(operation, [nearest]);
        continue;
      }
      const all = this.#from(roots);
      steps += all.size;
      allowance.step('', Math.ceil(all.size / 16));
      const owners = [...this.#nodes.values()].filter((node) => all.has(node)).map(({ owner }) => owner);
      for (const owner of owners) this.#counts.set(owner, (this.#counts.get(owner) ?? 0) + 1);
      this.incomplete.set(operation, owners);
    }
  }

  /** The number of operations that reach an owner. */
  countOf(owner: object | undefined): number {
    return owner === undefined ? 0 : (this.#counts.get(owner) ?? 0);
  }

  /** Returns all components that lead to an owner of flaws, with the nearest owner. Each component is visited once. */
  #leadingTo(operations: readonly AdoptedOperation[]): ReadonlyMap<object, object> {
    const users = new Map<object, object[]>();
    for (const one of this.#from(operations.flatMap(rootsOf)))
      for (const needed of this.#neededBy(one)) addTo(users, needed, one);
    const leading = new Map<object, object>([...this.#nodes.values()].map((node) => [node, node.owner]));
    // the map grows during the loop
    for (const [one, owner] of leading)
      for (const user of users.get(one) ?? []) if (!leading.has(user)) leading.set(user, owner);
    return leading;
  }

  /** Returns the given components and all components reachable from them. */
  #from(roots: readonly object[]): ReadonlySet<object> {
    const reached = new Set<object>(roots);
    // the set grows during the loop
    for (const one of reached) for (const needed of this.#neededBy(one)) reached.add(needed);
    return reached;
  }

  #neededBy(one: object): readonly object[] {
    const of = one instanceof Base ? one.type : one;
    const node = this.#nodes.get(of);
    const needed: object[] = [...this.#findings.needsOf(of), ...(node === undefined ? [] : [node])];
    if (one instanceof Base) this.#addBase(one.type, needed);
    else if ('substitutes' in one) {
      const { type, substitutes } = one as ElementDeclaration;
      needed.push(type);
      for (const substitute of substitutes) needed.push(substitute);
    } else if ('kind' in one) {
      this.#addBase(one as SchemaType, needed);
      addType(one as SchemaType, needed);
    }
    return needed;
  }

  #addBase({ base }: SchemaType, needed: object[]): void {
    if (base === undefined) return;
    const known = this.#bases.get(base) ?? new Base(base);
    this.#bases.set(base, known);
    needed.push(known);
  }
}

/** The components that an operation's messages refer to. */
function rootsOf({ input, output, faults }: AdoptedOperation): readonly ElementDeclaration[] {
  const messages = output === undefined ? [input] : [input, output];
  return [...messages.flatMap(messageElements), ...faults.map(({ element }) => element)];
}

function addType(type: SchemaType, needed: object[]): void {
  if (type.kind === 'simple') {
    if (type.variety.kind === 'list') needed.push(type.variety.item);
    if (type.variety.kind === 'union') for (const member of type.variety.members) needed.push(member);
    return;
  }
  for (const derived of type.derived) needed.push(derived);
  for (const attribute of type.attributes) needed.push(attribute.type);
  const { content } = type;
  if (content.kind === 'text') needed.push(content.type);
  if (content.kind === 'encodedArray') needed.push(content.item);
  if (content.kind === 'map') needed.push(content.item, content.key, content.value);
  if (content.kind === 'elements') addParticle(content.particle, needed);
}

function addParticle(particle: Particle, needed: object[]): void {
  if (particle.kind === 'element') needed.push(particle.element);
  else if (particle.kind !== 'any') for (const one of particle.particles) addParticle(one, needed);
}
