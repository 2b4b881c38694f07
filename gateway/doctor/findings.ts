import type { Location } from '../../mappings/xml/error.ts';
import type { Draft } from './draft.ts';

/** A problem of a message, or a deviation that other services reject. */
export interface Finding {
  /** `error`: this service rejects it. `warning`: this service accepts it, a strict one does not. */
  readonly severity: 'error' | 'warning';
  /** Position in the original message, from 1, with columns in UTF-16 units. Undefined for HTTP headers. */
  readonly at: Location | undefined;
  /** Problem, likely cause and action, in the caller's terms. It never contains values that may be secret. */
  readonly message: string;
  /** The replacement in the corrected message; undefined if only the caller knows it. */
  readonly fix: string | undefined;
}

/** A finding with the local name of the element that contains the error; undefined for any other finding. */
interface ListedFinding extends Finding {
  readonly element: string | undefined;
}

/** Collects distinct findings up to a maximum number. */
export class Findings {
  readonly list: ListedFinding[] = [];
  readonly #most: number;
  readonly #seen = new Set<string>();
  /** Number of further findings. A finding may be counted more than once. */
  more = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Adds a finding at an offset of the draft's text. */
  note(
    draft: Draft,
    offset: number,
    severity: Finding['severity'],
    message: string,
    fix?: string,
    element?: string,
  ): void {
    // computing a position is slow, so skip it if the list is full
    if (this.list.length >= this.#most) this.more++;
    else this.#add({ severity, at: draft.locationOf(offset), message, fix, element });
  }

  /** Adds a finding that this service rejects. */
  error(draft: Draft, offset: number, message: string, fix?: string, element?: string): void {
    this.note(draft, offset, 'error', message, fix, element);
  }

  /** Adds a finding about the HTTP headers. */
  noteHeader(severity: Finding['severity'], message: string, fix?: string): void {
    this.#add({ severity, at: undefined, message, fix, element: undefined });
  }

  #add(finding: ListedFinding): void {
    const key = `${finding.at?.line}:${finding.at?.column}:${finding.message}`;
    if (this.#seen.has(key)) return;
    if (this.list.length >= this.#most) {
      this.more++;
      return;
    }
    this.#seen.add(key);
    this.list.push(finding);
  }

  /** Returns all findings: those about headers first, then by position. */
  sorted(): readonly Finding[] {
    const key = ({ at }: Finding): number => (at === undefined ? -1 : at.line * 1e7 + at.column);
    const sorted = this.list.toSorted((one, other) => key(one) - key(other));
    return sorted.map(({ element: _, ...finding }) => finding);
  }
}
