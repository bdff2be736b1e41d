/** `content-type` of an object, told from its key. */
export const contentType = (key: string): string =>
  key.endsWith('.zip') ? 'application/zip' : 'application/octet-stream';

/** `content-disposition` that makes a browser save the object as `filename`, whatever characters that has. */
export function attachment(filename: string): string {
  const ascii = filename.replace(/[^ !#-[\]-~]/g, '_');
  const encoded = encodeURIComponent(filename).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
