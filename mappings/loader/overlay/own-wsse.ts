import type { ContractProblem } from '../document/error.ts';
import { isNode } from '../document/node.ts';

/** The key `wsse` of a contract in `soapbridge.yaml`. It replaces the key of the overlay (X1). */
export interface OwnWsse {
  /** The file with the key. Names of files are relative to its folder. */
  readonly file: string;
  /** JSON pointer of the key in the file. */
  readonly at: string;
  /** The value as it is written. */
  readonly value: unknown;
}

/** Returns the document of an overlay with this key; undefined for an overlay without a file. */
export function withOwnWsse(document: unknown, own: OwnWsse | undefined): unknown {
  if (own === undefined) return document;
  const stated = document ?? {};
  return isNode(stated) ? { ...stated, wsse: own.value } : document;
}

/** Returns a problem of an overlay that has this key. A problem of the key gets the place of the key. */
export function placedIn<Problem extends ContractProblem>(
  overlay: string,
  own: OwnWsse | undefined,
  problem: Problem,
): Problem {
  const { file, pointer } = problem;
  if (own === undefined || file !== overlay || !`${pointer}/`.startsWith('/wsse/')) return problem;
  return { ...problem, file: own.file, pointer: own.at + pointer.slice('/wsse'.length) };
}
