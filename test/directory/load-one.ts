import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compileContract } from '../../mappings/compile.ts';
import type { LoadedContract } from '../../mappings/loader/build-contract.ts';
import { ContractError } from '../../mappings/loader/document/error.ts';
import { readContract } from '../../mappings/loader/load.ts';
import { writeWsdl } from '../../wsdl/wsdl.ts';
import { type TypeFigures, typeFigures } from './type-figures.ts';

/** What became of one document. */
export interface Outcome {
  readonly path: string;
  /** Operations under its paths, whatever becomes of them. */
  readonly operations: number;
  readonly served: number;
  /** Operations of the document that aren't served: each with its first reason. */
  readonly notServed: readonly Reason[];
  /** What is wrong with a document of which nothing is served. */
  readonly problems: readonly Reason[];
  /** What was thrown that is no error of the document's. */
  readonly crash: string | undefined;
  readonly ms: number;
  /** In bytes, of the process after it. */
  readonly heap: number;
  /** Where they were asked for, and the document was read. */
  readonly wsdl?: WsdlFigures;
}

/** A WSDL and its types, with equal types made one and without. */
export interface WsdlFigures {
  readonly once: TypeFigures & { readonly bytes: number };
  readonly apart: TypeFigures & { readonly bytes: number };
}

/** Why something isn't served, and where it stands. */
export interface Reason {
  readonly name: string;
  readonly pointer: string;
  readonly why: string;
}

/** Loads, compiles and describes a document in dialect plain, as a start does. */
export function loadOne(path: string, ofTypes: boolean): Outcome {
  const began = performance.now();
  const none = {
    path,
    operations: countOperations(path),
    served: 0,
    notServed: [],
    problems: [],
    crash: undefined,
  };
  const spent = () => ({ ms: performance.now() - began, heap: process.memoryUsage().heapUsed });
  try {
    const loaded = readContract({ openapi: path });
    const { contract, notServed } = loaded;
    compileContract(contract);
    const wsdl = writeWsdl(contract, { address });
    return {
      ...none,
      ...(ofTypes && { wsdl: { once: figuresOf(loaded, wsdl), apart: figuresApart(path) } }),
      served: contract.operations.length,
      notServed: notServed.map(({ name, reasons: [reason], pointer }) => ({
        name,
        pointer: reason?.pointer ?? pointer,
        why: reason?.why ?? '',
      })),
      ...spent(),
    };
  } catch (error) {
    if (!(error instanceof ContractError)) {
      const crash = error instanceof Error ? (error.stack ?? error.message) : String(error);
      return { ...none, crash, ...spent() };
    }
    const problems = error.problems.map(({ pointer, message }) => ({ name: '', pointer, why: message }));
    return { ...none, problems, ...spent() };
  }
}

const address = 'https://api.example';
const apart = fileURLToPath(new URL('apart.yaml', import.meta.url));

function figuresOf(loaded: LoadedContract, wsdl: string): WsdlFigures['once'] {
  return { ...typeFigures(loaded), bytes: Buffer.byteLength(wsdl) };
}

function figuresApart(openapi: string): WsdlFigures['apart'] {
  const loaded = readContract({ openapi, overlay: apart });
  return figuresOf(loaded, writeWsdl(loaded.contract, { address }));
}

/** Operations as the JSON has them, counted without the loader; 0 for what is no such document. */
function countOperations(path: string): number {
  const { paths = {} } = JSON.parse(readFileSync(path, 'utf8')) as { paths?: Record<string, object> };
  const methods = /^(?:get|put|post|delete|options|head|patch|trace)$/;
  return Object.entries(paths)
    .filter(([name, item]) => !name.startsWith('x-') && item !== null)
    .flatMap(([, item]) => Object.keys(item))
    .filter((key) => methods.test(key)).length;
}

process.on('message', ([path, ofTypes]: [string, boolean]) => {
  process.send?.(loadOne(path, ofTypes));
});
