// SPDX-License-Identifier: Apache-2.0
// Pictures in PBM and PGM, plain and binary, drawn on a canvas.

/** @return {width, height, grey}: grey from 0 to 1 for each pixel, row by row; null if the bytes are no such picture. */
export function readPicture(bytes) {
  let at = 0;
  const space = byte => byte === 32 || (byte >= 9 && byte <= 13);
  function number(digits = 9) {
    while (space(bytes[at]) || bytes[at] === 35) {
      if (bytes[at] === 35) while (at < bytes.length && bytes[at] !== 10) at++;
      else at++;
    }
    let value = 0;
    let n = 0;
    for (; n < digits && bytes[at] >= 48 && bytes[at] <= 57; n++) value = value * 10 + bytes[at++] - 48;
    return n ? value : NaN;
  }
  const kind = bytes[0] === 80 ? bytes[1] - 48 : 0;
  if (![1, 2, 4, 5].includes(kind)) return null;
  at = 2;
  const width = number();
  const height = number();
  const bits = kind === 1 || kind === 4;
  const most = bits ? 1 : number();
  if (!(width * height > 0 && most > 0)) return null;
  const grey = new Float32Array(width * height);
  if (kind > 2) at++;
  const rowBytes = Math.ceil(width / 8);
  for (let i = 0; i < grey.length; i++) {
    let value;
    if (kind < 3) value = number(bits ? 1 : 9);
    else if (kind === 4) value = bytes[at + Math.floor(i / width) * rowBytes + ((i % width) >> 3)] >> (7 - (i % width) % 8) & 1;
    else value = most > 255 ? bytes[at + 2 * i] * 256 + bytes[at + 2 * i + 1] : bytes[at + i];
    grey[i] = bits ? 1 - value : value / most;
  }
  return {width, height, grey};
}

export function drawPicture(canvas, bytes) {
  const picture = readPicture(bytes);
  if (!picture) return;
  canvas.width = picture.width;
  canvas.height = picture.height;
  const context = canvas.getContext('2d');
  const image = context.createImageData(picture.width, picture.height);
  picture.grey.forEach((grey, i) => image.data.set([255 * grey, 255 * grey, 255 * grey, 255], 4 * i));
  context.putImageData(image, 0, 0);
}
