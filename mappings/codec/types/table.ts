import type { NamedType } from '../../contract/model.ts';
import type { ReaderContext, ReplyWriter, RequestReader, WriterContext } from '../context.ts';
import { arrayReader, arrayWriter } from './array.ts';
import { enumReader, enumWriter } from './enum.ts';
import { mapReader, mapWriter } from './map.ts';
import { recordReader, recordWriter } from './record.ts';
import { tupleReader, tupleWriter } from './tuple.ts';
import { unionReader, unionWriter } from './union.ts';

/** One kind of named type, both ways. Types within it are compiled by the context, which no file of a type imports. */
export interface TypeCodec<Named extends NamedType> {
  reader(context: ReaderContext, type: Named): RequestReader;
  writer(context: WriterContext, type: Named): ReplyWriter;
}

/** A row for each kind of named type; scalars have a table of their own. */
export const typeTable: {
  readonly [Kind in NamedType['kind']]: TypeCodec<Extract<NamedType, { readonly kind: Kind }>>;
} = {
  record: { reader: recordReader, writer: recordWriter },
  union: { reader: unionReader, writer: unionWriter },
  tuple: { reader: tupleReader, writer: tupleWriter },
  array: { reader: arrayReader, writer: arrayWriter },
  map: { reader: mapReader, writer: mapWriter },
  enum: { reader: enumReader, writer: enumWriter },
};
