import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { serialize } from 'node:v8';
import { configSettings } from '../../gateway/process/config.ts';
import { schemaFileOf } from '../../mappings/loader/document/settings-file.ts';
import { mappingSettings } from '../../mappings/mapping/notation.ts';
import { overlaySettings } from '../../mappings/contract/overlay-keys.ts';
import { readContract, schemaFiles, screeningContract } from '../../mappings/loader/load.ts';
import { shippedFile } from '../../mappings/loader/shipped-contract.ts';
import { writeWsdl } from '../../wsdl/wsdl.ts';
import { excerptPages, withExcerpts } from '../docs/excerpts.ts';
import { countAll, countsFile } from '../documents/documents.ts';
import { conformancePage, writeConformancePage } from '../basic-profile/page.ts';
import { formerLimitRows, formerLimitTableForm, limitRows, limitTableForm } from '../docs/limit-rows.ts';
import { overlayRows, overlayTableForm } from '../docs/overlay-rows.ts';
import { scriptArguments } from '../script-arguments.ts';
import { capabilities, folderOf, goldensOf } from '../plain/folders.ts';
import { optionalPackagesPage, writeOptionalPackagesPage } from '../supply-chain/optional-packages.ts';
import { supplyChainPage, writeSupplyChainPage } from '../supply-chain/page.ts';

const { contract } = readContract(screeningContract);

/** The contract that ships, loaded. It is read at start instead of its files. */
export const shippedContract = serialize(readContract(screeningContract));

/** Expected content of each golden file, by its name in this folder. `npm run golden` writes the files. */
export const goldens = {
  'screening.wsdl': writeWsdl(contract, { address: `https://api.example.com${contract.basePath}` }),
} as const;

/** JSON schemas for completion in editors, shipped with the package. */
export const overlaySchema = `${JSON.stringify(schemaFileOf(overlaySettings.openapi), null, 2)}\n`;
export const adoptedOverlaySchema = `${JSON.stringify(schemaFileOf(overlaySettings.adopted), null, 2)}\n`;
export const mappingSchema = `${JSON.stringify(schemaFileOf(mappingSettings), null, 2)}\n`;
export const configSchema = `${JSON.stringify(schemaFileOf(configSettings), null, 2)}\n`;

const help = `npm run golden [-- --help]

Writes all generated files: golden WSDLs, JSON Schemas, and the tables and excerpts in the docs.

  --help  print this help`;

if (import.meta.main) {
  scriptArguments(help, {});
  for (const { file } of excerptPages()) writeFileSync(file, withExcerpts(readFileSync(file, 'utf8')));
  writeFileSync(shippedFile, shippedContract);
  writeFileSync(schemaFiles.overlay, overlaySchema);
  writeFileSync(schemaFiles.adoptedOverlay, adoptedOverlaySchema);
  writeFileSync(schemaFiles.config, configSchema);
  writeFileSync(schemaFiles.mapping, mappingSchema);
  writeFileSync(conformancePage, writeConformancePage());
  writeFileSync(supplyChainPage, writeSupplyChainPage());
  writeFileSync(optionalPackagesPage, writeOptionalPackagesPage());
  const limits = new URL('../../docs/limits.md', import.meta.url);
  writeFileSync(limits, readFileSync(limits, 'utf8').replace(limitTableForm, limitRows));
  for (const [name, kind] of [
    ['overlay-keys', 'openapi'],
    ['adopt', 'adopted'],
  ] as const) {
    const page = new URL(`../../docs/${name}.md`, import.meta.url);
    writeFileSync(page, readFileSync(page, 'utf8').replace(overlayTableForm, () => overlayRows(kind)));
  }
  const upgrading = new URL('../../docs/upgrading.md', import.meta.url);
  writeFileSync(
    upgrading,
    readFileSync(upgrading, 'utf8').replace(formerLimitTableForm, formerLimitRows),
  );
  for (const [name, text] of Object.entries(goldens)) {
    writeFileSync(join(import.meta.dirname, name), text);
  }
  writeFileSync(countsFile, countAll());
  for (const capability of capabilities) {
    for (const [name, text] of Object.entries(goldensOf(capability))) {
      const path = join(folderOf(capability), name);
      if (text === '') rmSync(path, { force: true });
      else writeFileSync(path, text);
    }
  }
}
