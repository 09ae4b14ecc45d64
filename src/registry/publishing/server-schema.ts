// The MCP registry's schema of a published `server.json`; rejects unknown members.
import { z } from 'zod';
import { PUBLISHER_META } from '../contract.ts';

const Address = z
  .string()
  .max(2_000)
  .regex(/^https?:\/\/\S+$/, 'must be an address that starts with http:// or https://');
const SecureAddress = z.string().regex(/^https:\/\/[^\s"'<>]+$/, 'must be an address that starts with https://');
const line = (longest: number) =>
  z
    .string()
    .max(longest)
    .refine((text) => text.trim() !== '', 'must not be blank');

const Input = z.strictObject({
  description: z.string().optional(),
  isRequired: z.boolean().optional(),
  isSecret: z.boolean().optional(),
  format: z.enum(['string', 'number', 'boolean', 'filepath']).optional(),
  value: z.string().optional(),
  default: z.string().optional(),
  placeholder: z.string().optional(),
  choices: z.array(z.string()).optional(),
});
const variables = z.record(z.string(), Input).optional();
const InputWithVariables = Input.extend({ variables });
const NamedInput = InputWithVariables.extend({ name: line(1_000) });

const Argument = z.discriminatedUnion('type', [
  InputWithVariables.extend({
    type: z.literal('positional'),
    valueHint: z.string().optional(),
    isRepeated: z.boolean().optional(),
  }).refine(({ value, valueHint }) => (value ?? valueHint) !== undefined, 'must have a value or a valueHint'),
  NamedInput.extend({
    type: z.literal('named'),
    name: z.string().regex(/^[^<>$ ]+$/, 'must be only the name of the option, such as --port'),
    valueHint: z.string().optional(),
    isRepeated: z.boolean().optional(),
  }),
]);

const http = { url: Address, headers: z.array(NamedInput).optional() };
const Transport = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('stdio') }),
  z.strictObject({ type: z.literal('streamable-http'), ...http }),
  z.strictObject({ type: z.literal('sse'), ...http }),
]);
const Remote = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('streamable-http'), ...http, variables }),
  z.strictObject({ type: z.literal('sse'), ...http, variables }),
]);

const Package = z.strictObject({
  registryType: line(100),
  identifier: z.string().regex(/^\S+$/, 'must not be empty or contain spaces'),
  version: z.string().min(1).max(255).optional(),
  registryBaseUrl: Address.optional(),
  fileSha256: z
    .string()
    .regex(/^[a-f0-9]{64}$/, 'must be 64 hexadecimal digits in lower case')
    .optional(),
  runtimeHint: z.string().optional(),
  transport: Transport,
  runtimeArguments: z.array(Argument).optional(),
  packageArguments: z.array(Argument).optional(),
  environmentVariables: z.array(NamedInput).optional(),
});

const Icon = z.strictObject({
  src: SecureAddress.max(255),
  mimeType: z.enum(['image/png', 'image/jpeg', 'image/jpg', 'image/svg+xml', 'image/webp']).optional(),
  sizes: z.array(z.string().regex(/^(\d+x\d+|any)$/, "must be like 48x48, or 'any'")).optional(),
  theme: z.enum(['light', 'dark']).optional(),
});

export const PublishedServer = z.strictObject({
  $schema: z.string().optional(),
  name: z
    .string()
    .max(200)
    .regex(
      /^[a-zA-Z0-9][a-zA-Z0-9.-]*[a-zA-Z0-9]\/[a-zA-Z0-9][a-zA-Z0-9._-]*[a-zA-Z0-9]$/,
      'must be a namespace and a name, such as com.acme/notes: letters, digits, . and -, in the name also _; each part has two characters or more, and begins and ends with a letter or a digit',
    ),
  title: line(100).optional(),
  description: line(100),
  version: z.string().min(1).max(255),
  websiteUrl: SecureAddress.optional(),
  repository: z
    .strictObject({
      url: Address,
      source: line(100),
      id: z.string().optional(),
      subfolder: z
        .string()
        .regex(/^(?!\.{0,2}(\/|$))[\w.-]+(\/(?!\.{0,2}(\/|$))[\w.-]+)*$/, 'must be a path below the repository')
        .optional(),
    })
    .optional(),
  icons: z.array(Icon).optional(),
  packages: z.array(Package).optional(),
  remotes: z.array(Remote).optional(),
  _meta: z.strictObject({ [PUBLISHER_META]: z.record(z.string(), z.unknown()).optional() }).optional(),
});
export type PublishedServer = z.infer<typeof PublishedServer>;
