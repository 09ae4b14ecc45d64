// The tools of a server, from its manifest.
import { type ListedTool, toolsOf } from '../../../src/catalog/server.ts';
import type { JsonObject } from '../../../src/lib/json.ts';

/** Further ones are collapsed. */
const MANY = 12;

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

function ToolList({ tools }: { tools: readonly ListedTool[] }) {
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
