import type { Contract, Operation, RecordType, Type } from '../../contract/model.ts';
import { didYouMean } from '../../contract/nearest.ts';
import { pointerSegment, type Report } from '../document/error.ts';
import { shown } from '../document/node.ts';
import type { Overlay } from '../overlay/overlay.ts';
import { carriesStatus } from './response-status.ts';

// Checks of the overlay that need the operations and types of the document.

/** Reports replies without the status that carries in-band errors (W26). */
export function checkErrors(
  { settings }: Overlay,
  operations: readonly Operation[],
  responseStatus: RecordType,
  report: Report,
): void {
  const without = operations.find((operation) => !carriesStatus(operation, responseStatus));
  if (settings.soapErrors === 'in-band' && without !== undefined)
    report(
      '/soapErrors',
      `expected data.responseStatus in every reply, got none in ${without.name}. Use fault`,
    );
}

/** Reports invalid uses of `stream`. A streamed file must be the whole body, and its values are not checked (W64). */
export function checkStreams(
  { settings, wsse }: Overlay,
  operations: readonly Operation[],
  binary: ReadonlySet<Type>,
  report: Report,
): void {
  for (const { name, stream, input, upstream } of operations) {
    if (!stream) continue;
    const { body } = upstream;
    const pointer = `/operations${pointerSegment(name)}/stream`;
    if (body.kind !== 'binary') report(pointer, `expected none, because the body of ${name} is not binary`);
    else if (wsse?.x509 !== undefined)
      report(pointer, 'expected none with /wsse/x509, which verifies a message before the call');
    else if (settings.validate === 'strict')
      report(pointer, 'expected none with validate: strict, which checks all values before the call');
    else if (input.fields.some(({ json, type }) => json !== body.field && binary.has(type)))
      report(pointer, `expected none, because other inputs of ${name} have base64 too`);
  }
}

/** Reports names in the overlay that the document does not have. */
export function checkOverlayNames(
  overlay: Overlay,
  operations: readonly Pick<Operation, 'input' | 'output'>[],
  types: Contract['types'],
  report: Report,
): void {
  const wrappers = operations.flatMap(({ input, output }) => [input, output]);
  const records = [...types, ...wrappers].filter((type) => type.kind === 'record');
  const members = new Set(
    overlay.personal.length === 0 ? [] : records.flatMap(({ fields }) => fields.map(({ json }) => json)),
  );
  for (const [index, member] of overlay.personal.entries()) {
    if (!members.has(member))
      report(
        `/personal/${index}`,
        `expected a JSON member of some type, got ${shown(member)}${didYouMean(member, members)}`,
      );
  }
  const byName = new Map([...wrappers, ...types].map((type) => [type.name, type]));
  const items = new Set(types.flatMap((type) => (type.kind === 'array' ? [type.item] : [])));
  for (const [name, { order, item }] of overlay.types) {
    const pointer = `/types${pointerSegment(name)}`;
    const type = byName.get(name);
    if (type === undefined) {
      report(
        pointer,
        `expected the name of a type that an operation reaches, got ${shown(name)}${didYouMean(name, byName.keys())}`,
      );
      continue;
    }
    if (order !== undefined && type.kind !== 'record')
      report(`${pointer}/order`, `expected none, because ${name} is not an object`);
    if (item !== undefined && !items.has(type))
      report(`${pointer}/item`, `expected none, because no array of ${name} exists`);
  }
}
