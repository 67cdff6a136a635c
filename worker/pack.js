// @ts-check
/**
 * Packs: zips without compression, gzipped as a whole unless the host has undone that.
 */

const END = 0x06054b50;
const ENTRY = 0x02014b50;

/** Whether bytes are gzipped, by the two that gzip begins with. @param {Uint8Array} bytes */
export function isGzipped(bytes) {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/**
 * The zip in a pack.
 * @param {ArrayBuffer} pack
 * @returns {Promise<ArrayBuffer>}
 */
export async function unzipped(pack) {
  if (!isGzipped(new Uint8Array(pack))) return pack;
  return new Response(new Blob([pack]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

/**
 * The files of a zip that has no comment and compresses nothing, as views of its bytes.
 * @param {ArrayBuffer} zip
 * @returns {Generator<[path: string, bytes: Uint8Array]>}
 */
export function* entriesOf(zip) {
  const view = new DataView(zip);
  const end = zip.byteLength - 22;
  if (end < 0 || view.getUint32(end, true) !== END) throw new Error("this is no pack");
  let at = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; left--) {
    if (view.getUint32(at, true) !== ENTRY || view.getUint16(at + 10, true) !== 0) throw new Error("this is no pack");
    const [size, nameLength] = [view.getUint32(at + 24, true), view.getUint16(at + 28, true)];
    const local = view.getUint32(at + 42, true);
    const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    const path = new TextDecoder().decode(new Uint8Array(zip, at + 46, nameLength));
    yield [path, new Uint8Array(zip, start, size)];
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
}
