// The tools of a server, from its manifest.
import { asObject, asText, type JsonObject } from '../../../src/lib/json.ts';

/** Further ones are collapsed. */
const MANY = 12;

interface Tool {
  name: string;
  description: string;
}

export function Tools({ manifest }: { manifest: JsonObject }) {
  const tools = toolsOf(manifest);
  if (tools.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="tools">
      <h2 id="tools">
        Tools <span class="quiet">{tools.length}</span>
      </h2>
      <ToolList tools={tools.slice(0, MANY)} />
      {tools.length > MANY && (
        <details>
          <summary>{tools.length - MANY} more</summary>
          <ToolList tools={tools.slice(MANY)} />
        </details>
      )}
    </section>
  );
}

function ToolList({ tools }: { tools: readonly Tool[] }) {
  return (
    <dl class="tools">
      {tools.map(({ name, description }) => (
        <div key={name}>
          <dt>
            <code>{name}</code>
          </dt>
          <dd>{description}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Manifests list tools as `tools`, and those to register as `mcp_registration.tool` or `.tools`. */
function toolsOf(manifest: JsonObject): Tool[] {
  const registration = asObject(manifest.mcp_registration);
  const listed = [manifest.tools, registration.tools, [registration.tool]].flatMap((list) =>
    Array.isArray(list) ? list : [],
  );
  const tools = listed.map((each) => {
    const tool = asObject(each);
    return { name: asText(tool.name) ?? asText(each) ?? '', description: asText(tool.description) ?? '' };
  });
  return [...new Map(tools.filter(({ name }) => name !== '').map((tool) => [tool.name, tool])).values()];
}
