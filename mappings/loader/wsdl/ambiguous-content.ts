import {
  type ElementDeclaration,
  expanded,
  type Particle,
  type Wildcard,
} from '../../contract/type-graph.ts';

/** Maximum number of comparisons with wildcards for one type. The rest of the type is not checked. */
const mostComparisons = 100_000;

/** Two particles of a content model that match the same element at the same position. */
export type Ambiguity = readonly [one: string, other: string];

/** A position of an element or a wildcard in a content model. */
interface Position {
  /** `xs:any` for a wildcard. */
  readonly called: string;
  readonly namespace: string;
  readonly wildcard: Wildcard['namespaces'] | undefined;
}

/** The positions that may be next in some state. */
class Next {
  readonly named = new Map<string, Position>();
  readonly wild: Position[] = [];

  add({ named, wild }: Next): void {
    for (const [name, position] of named) this.named.set(name, position);
    for (const position of wild) if (!this.wild.includes(position)) this.wild.push(position);
  }
}

/** The positions at the edges of a particle. */
interface Edges {
  readonly isNullable: boolean;
  /** The positions at which the particle can start. */
  readonly first: Next;
  /** The positions that can follow at a point where the particle could also end. */
  readonly more: Next;
}

const nothing = new Next();

/**
 * Finds an ambiguity of a content model: Unique Particle Attribution (XSD 1.0, part 1, 3.8.6) without substitution
 * groups. Takes time in proportion to the size of the model.
 */
export function findAmbiguity(particle: Particle): Ambiguity | undefined {
  if (!mayBeAmbiguous(particle, new Set())) return undefined;
  const search = new Search();
  search.edgesOf(particle);
  return search.found;
}

/** Returns true for a particle with a wildcard, or with two elements of one name. */
function mayBeAmbiguous(particle: Particle, names: Set<string>): boolean {
  if (particle.kind === 'any') return true;
  if (particle.kind !== 'element') return particle.particles.some((part) => mayBeAmbiguous(part, names));
  const name = expanded(particle.element.name);
  if (names.has(name)) return true;
  names.add(name);
  return false;
}

class Search {
  found: Ambiguity | undefined;
  #comparisons = 0;

  edgesOf(particle: Particle): Edges {
    const inner = this.#once(particle);
    const isNullable = inner.isNullable || particle.least === 0;
    if (particle.most <= 1) return { ...inner, isNullable };
    this.#compare(inner.more, inner.first);
    // With a fixed number of repetitions, it is always known whether another one follows.
    if (particle.least === particle.most) return { ...inner, isNullable };
    const more = new Next();
    more.add(inner.more);
    more.add(inner.first);
    return { ...inner, isNullable, more };
  }

  #once(particle: Particle): Edges {
    switch (particle.kind) {
      case 'element':
        return { isNullable: false, first: ofElement(particle.element), more: nothing };
      case 'any':
        return { isNullable: false, first: ofWildcard(particle.wildcard), more: nothing };
      case 'sequence':
        return this.#sequence(particle.particles);
      case 'choice':
        return this.#choice(particle.particles);
      case 'all':
        return this.#all(particle.particles);
    }
  }

  #sequence(particles: readonly Particle[]): Edges {
    let isNullable = true;
    const first = new Next();
    /** The positions that compete with the beginning of the next particle. */
    let open = new Next();
    for (const particle of particles) {
      const edges = this.edgesOf(particle);
      this.#compare(open, edges.first);
      if (isNullable) first.add(edges.first);
      if (edges.isNullable) open.add(edges.first);
      else open = new Next();
      open.add(edges.more);
      isNullable &&= edges.isNullable;
    }
    return { isNullable, first, more: open };
  }

  #choice(particles: readonly Particle[]): Edges {
    let isNullable = false;
    const [first, more] = [new Next(), new Next()];
    for (const particle of particles) {
      const edges = this.edgesOf(particle);
      this.#compare(first, edges.first);
      isNullable ||= edges.isNullable;
      first.add(edges.first);
      more.add(edges.more);
    }
    return { isNullable, first, more };
  }

  /** The particles of `xs:all` are elements that occur at most once (XSD 1.0, part 1, 3.8.6). */
  #all(particles: readonly Particle[]): Edges {
    const { first } = this.#choice(particles);
    return { isNullable: particles.every(({ least }) => least === 0), first, more: first };
  }

  #compare(one: Next, other: Next): void {
    if (this.found !== undefined) return;
    const [small, large] = one.named.size < other.named.size ? [one, other] : [other, one];
    for (const [name, position] of small.named) {
      const its = large.named.get(name);
      if (its !== undefined && its !== position) this.found = [position.called, `another ${its.called}`];
    }
    for (const position of one.wild) this.#compareWild(position, other);
    for (const position of other.wild) this.#compareWild(position, one);
  }

  #compareWild(position: Position, { named, wild }: Next): void {
    for (const its of named.values()) this.#compareOne(position, its);
    for (const its of wild) this.#compareOne(position, its);
  }

  #compareOne(position: Position, its: Position): void {
    if (this.found !== undefined || ++this.#comparisons > mostComparisons) return;
    if (position !== its && overlap(position, its)) this.found = [its.called, position.called];
  }
}

function ofElement({ name }: ElementDeclaration): Next {
  const key = expanded(name);
  const next = new Next();
  next.named.set(key, { called: name.local, namespace: name.namespace, wildcard: undefined });
  return next;
}

function ofWildcard({ namespaces }: Wildcard): Next {
  const next = new Next();
  next.wild.push({ called: 'xs:any', namespace: '', wildcard: namespaces });
  return next;
}

/** Returns true if some element is of a wildcard and of another position. */
function overlap({ wildcard }: Position, other: Position): boolean {
  if (wildcard === undefined) return false;
  if (other.wildcard === undefined) return takes(wildcard, other.namespace);
  if (other.wildcard.kind === 'list') return other.wildcard.list.some((one) => takes(wildcard, one));
  if (wildcard.kind === 'list') {
    const { wildcard: its } = other;
    return wildcard.list.some((one) => takes(its, one));
  }
  return true;
}

function takes(wildcard: Wildcard['namespaces'], namespace: string): boolean {
  if (wildcard.kind === 'any') return true;
  if (wildcard.kind === 'other') return namespace !== wildcard.than && namespace !== '';
  return wildcard.list.includes(namespace);
}
