import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';

interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: object }>> }>
  >;
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

export interface Documented {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * Holds answers to what the OpenAPI document promises: the status is listed, the body fits its schema. Counts what it saw
 * as `GET /path 200`. What the document does not know, as an object's link, passes.
 */
export function conformity(document: Document) {
  const ajv = addFormats.default(new Ajv2020({ strict: true, strictRequired: false, allErrors: true }));
  const compiled = new Map<object, ValidateFunction>();
  const seen = new Set<string>();
  const routes = Object.entries(document.paths).map(([path, operations]) => ({
    path,
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    operations,
  }));

  return {
    seen,
    /** All that the document lists, as `GET /path 200`. */
    listed: routes.flatMap(({ path, operations }) =>
      Object.entries(operations).flatMap(([method, { responses }]) =>
        Object.keys(responses).map((status) => `${method.toUpperCase()} ${path} ${status}`),
      ),
    ),
    hold(method: string, url: string, { status, headers, text }: Documented): void {
      const found = routes.find(({ pattern }) => pattern.test(url.split('?')[0]));
      const operation = found?.operations[method.toLowerCase()];
      if (!found || !operation) return;
      const name = `${method} ${found.path} ${status}`;
      seen.add(name);
      const response = operation.responses[status];
      expect(response, `${name} is not in the document: ${text}`).toBeDefined();
      if (response.content === undefined) {
        expect(text, name).toBe('');
        return;
      }
      const [[type, { schema }]] = Object.entries(response.content);
      expect(headers.get('content-type'), name).toContain(type);
      const validate = compiled.get(schema) ?? ajv.compile(schema);
      compiled.set(schema, validate);
      expect(validate(JSON.parse(text)), `${name}: ${ajv.errorsText(validate.errors)}\n${text}`).toBe(true);
    },
  };
}
