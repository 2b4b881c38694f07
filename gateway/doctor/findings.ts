import type { Location } from '../../mappings/xml/error.ts';
import type { Draft } from './draft.ts';

/** One thing that is wrong with a message, or that another service would refuse. */
export interface Finding {
  /** `error`: this service refuses it; `warning`: it takes it, a strict one doesn't. */
  readonly severity: 'error' | 'warning';
  /** In the message that came, from 1, columns in UTF-16 units; undefined for what the HTTP headers say. */
  readonly at: Location | undefined;
  /** What is wrong, its likely cause and what to do, in the caller's terms. Values that may be secret are never in it. */
  readonly message: string;
  /** What the corrected message has instead; undefined where only the caller knows. */
  readonly fix: string | undefined;
}

/** A finding with the local name of the element whose content it is about; undefined for any other finding. */
interface ListedFinding extends Finding {
  readonly element: string | undefined;
}

/** Gathers findings, each once, up to a number. */
export class Findings {
  readonly list: ListedFinding[] = [];
  readonly #most: number;
  readonly #seen = new Set<string>();
  /** How many more there were, at most: what a later look finds again is counted again. */
  more = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Notes a finding at an offset of the draft's text. */
  note(
    draft: Draft,
    offset: number,
    severity: Finding['severity'],
    message: string,
    fix?: string,
    element?: string,
  ): void {
    // a place takes a while to find, so it isn't looked for in vain
    if (this.list.length >= this.#most) this.more++;
    else this.#add({ severity, at: draft.locationOf(offset), message, fix, element });
  }

  /** The same of what this service refuses. */
  error(draft: Draft, offset: number, message: string, fix?: string, element?: string): void {
    this.note(draft, offset, 'error', message, fix, element);
  }

  /** Notes a finding about the HTTP headers. */
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

  /** All of them: the headers' first, then by place. */
  sorted(): readonly Finding[] {
    const key = ({ at }: Finding): number => (at === undefined ? -1 : at.line * 1e7 + at.column);
    const sorted = this.list.toSorted((one, other) => key(one) - key(other));
    return sorted.map(({ element: _, ...finding }) => finding);
  }
}
