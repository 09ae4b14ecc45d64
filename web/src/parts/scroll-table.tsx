// A table with a header row, which scrolls if it is too wide for the screen.
import type { ComponentChildren } from 'preact';

export function ScrollTable({ columns, children }: { columns: readonly string[]; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <div class="table-scroll" tabIndex={0}>
      <table class="runs">
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
