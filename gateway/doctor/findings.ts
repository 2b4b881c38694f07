import type { Location } from '../../mappings/xml/error.ts';

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

  /** Adds a finding. `locate` returns its position, which takes long, so it is not called if the list is full. */
  add(finding: Omit<ListedFinding, 'at'>, locate: () => Finding['at']): void {
    if (this.list.length >= this.#most) {
      this.more++;
      return;
    }
    const at = locate();
    const key = `${at?.line}:${at?.column}:${finding.message}`;
    if (!this.#seen.has(key)) this.list.push({ ...finding, at });
    this.#seen.add(key);
  }

  /** Adds a finding about the HTTP headers. */
  noteHeader(severity: Finding['severity'], message: string, fix?: string): void {
    this.add({ severity, message, fix, element: undefined }, () => undefined);
  }

  /** Returns all findings: those about headers first, then by position. */
  sorted(): readonly Finding[] {
    const key = ({ at }: Finding): number => (at === undefined ? -1 : at.line * 1e7 + at.column);
    const sorted = this.list.toSorted((one, other) => key(one) - key(other));
    return sorted.map(({ element: _, ...finding }) => finding);
  }
}
