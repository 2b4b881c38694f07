import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compileContract } from '../../mappings/compile.ts';
import type { LoadedContract } from '../../mappings/loader/build-contract.ts';
import { ContractError } from '../../mappings/loader/document/error.ts';
import { readContract } from '../../mappings/loader/load.ts';
import { writeWsdl } from '../../wsdl/wsdl.ts';
import { type TypeFigures, typeFigures } from './type-figures.ts';

/** Result of loading one document. */
export interface Outcome {
  readonly path: string;
  /** Number of operations in its paths, served or not. */
  readonly operations: number;
  readonly served: number;
  /** Operations that are not served, each with its first reason. */
  readonly notServed: readonly Reason[];
  /** Problems of a document that is not served at all. */
  readonly problems: readonly Reason[];
  /** An exception that is not about the document. */
  readonly crash: string | undefined;
  readonly ms: number;
  /** Heap of the process after loading, in bytes. */
  readonly heap: number;
  /** Present if requested and the document was loaded. */
  readonly wsdl?: WsdlFigures;
}

/** Figures of a WSDL and its types, with and without merging equal types. */
export interface WsdlFigures {
  readonly once: TypeFigures & { readonly bytes: number };
  readonly apart: TypeFigures & { readonly bytes: number };
}

/** Reason why something is not served, with its location. */
export interface Reason {
  readonly name: string;
  readonly pointer: string;
  readonly why: string;
}

/** Loads, compiles and describes a document in the dialect `plain`, as the gateway does at start. */
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

/** Counts the operations in the JSON without the loader; 0 for other JSON. */
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
