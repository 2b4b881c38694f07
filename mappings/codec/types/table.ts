import type { NamedType } from '../../contract/model.ts';
import type { ReaderContext, ReplyWriter, RequestReader, WriterContext } from '../context.ts';
import { arrayReader, arrayWriter } from './array.ts';
import { mapReader, mapWriter } from './map.ts';
import { recordReader, recordWriter } from './record.ts';
import { enumReader, enumWriter } from './scalar.ts';
import { tupleReader, tupleWriter } from './tuple.ts';
import { unionReader, unionWriter } from './union.ts';

/**
 * The codec of one kind of named type. The context compiles the types within it, so that files of types do not import
 * each other.
 */
export interface TypeCodec<Named extends NamedType> {
  reader(context: ReaderContext, type: Named): RequestReader;
  writer(context: WriterContext, type: Named): ReplyWriter;
}

/** The codecs by kind of named type. Scalars have their own table. */
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
