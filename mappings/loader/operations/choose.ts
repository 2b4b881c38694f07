import { pointerSegment, type Report } from '../document/error.ts';
import { shown } from '../document/node.ts';
import type { OperationOverlay, Overlay } from '../overlay/overlay.ts';
import type { Entry } from './entries.ts';

/**
 * The document's operations as the overlay has them: those that it hides left out, the others under the names and with
 * the upstream calls that it gives. Names in the overlay that the document lacks are reported.
 */
export function chooseOperations(entries: readonly Entry[], overlay: Overlay, report: Report): Entry[] {
  const names = new Set(entries.map(({ name }) => name));
  for (const name of overlay.operations.keys()) {
    if (!names.has(name))
      report(`/operations${pointerSegment(name)}`, `expected the name of an operation, got ${shown(name)}`);
  }
  return entries.flatMap((entry) => {
    const stated = statedOf(entry, overlay);
    if (stated === undefined) return overlay.namedOnly ? [] : [entry];
    if (stated.hide === true) return [];
    return [
      {
        ...entry,
        name: stated.name ?? entry.name,
        method: stated.upstream?.method ?? entry.method,
        path: stated.upstream?.path ?? entry.path,
        readOnly: stated.readOnly,
        stream: stated.stream ?? false,
        mediaType: stated.mediaType ?? entry.mediaType,
        accept: stated.accept ?? entry.accept,
        spansSegments: stated.spansSegments ?? [],
      },
    ];
  });
}

/** What the overlay says of an operation; of one in another media type, also what it says of the call of the first. */
function statedOf({ name, of }: Entry, { operations }: Overlay): OperationOverlay | undefined {
  const own = operations.get(name);
  if (of === undefined) return own;
  const { readOnly, upstream, spansSegments } = operations.get(of) ?? {};
  return { readOnly, upstream, spansSegments, ...own };
}
