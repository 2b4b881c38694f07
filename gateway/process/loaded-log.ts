import type { LoadedContract } from '../../mappings/loader/build-contract.ts';
import type { Note } from '../../mappings/loader/document/error.ts';
import type { Logger } from '../telemetry/logger.ts';

/** So many of a kind are shown; `check` lists all. */
const shown = 3;

/**
 * Logs what is served of a document, in one line, and what isn't, or not as it says: a line for each kind with how many
 * there are, the first of them and what to do. A large document has a thousand, which nobody reads.
 */
export function logLoaded(loaded: LoadedContract, log: Pick<Logger, 'info' | 'warn'>): void {
  const { contract, notes, notServed, contradictions, unchecked, assumedServers, unforeseen } = loaded;
  const { service, operations, types, basePath, settings } = contract;
  const [first] = operations;
  const example =
    first === undefined
      ? undefined
      : `${first.name}: ${first.upstream.method} ${first.upstream.server.basePath}${first.upstream.path}`;
  log.info(
    { contract: basePath || '/', service, operations: operations.length, types: types.length, example },
    'a contract is loaded',
  );
  const left = notServed.flatMap(({ name, reasons }) =>
    reasons.slice(0, 1).map(({ pointer, why }) => ({ name, pointer, why })),
  );
  const kinds: readonly (readonly [readonly Note[], string])[] = [
    [
      left,
      'operations of the document are not served; hide them in the overlay, or change what is said of them',
    ],
    [
      notes,
      `values travel as JSON ${settings.json}, as no closed type fits; the document can say more of them`,
    ],
    [contradictions, 'members are described twice, and no value can be both; the first description counts'],
    [unchecked, 'rules are not checked by validate: strict; the service behind has to'],
    [
      assumedServers,
      'the upstream is called in the place of another server; give its address in the overlay’s servers',
    ],
    [unforeseen, 'references stand where OpenAPI foresees none; what they name was read in their place'],
  ];
  for (const [all, message] of kinds)
    if (all.length > 0)
      log.warn({ contract: basePath || '/', count: all.length, first: all.slice(0, shown) }, message);
}
