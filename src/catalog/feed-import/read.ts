/** A feed file, as it comes from the network, to batches of rows. */
import { readCsv, readTsv } from './csv.ts'
import type { FeedFormat } from './detect.ts'
import type { FeedBatch } from './rows.ts'
import { unpackFeed } from './unpack.ts'
import { readXml } from './xml.ts'

const READERS = { CSV: readCsv, TSV: readTsv, XML: readXml }

export function readFeed(source: AsyncIterable<Buffer>, format: FeedFormat): AsyncGenerator<FeedBatch> {
  return READERS[format](unpackFeed(source, format))
}
