// Icons on a 16-pixel grid, in the color of the surrounding text.
import type { ComponentChildren, JSX } from 'preact';

function icon(paths: ComponentChildren): () => JSX.Element {
  return () => (
    <svg
      class="icon"
      viewBox="0 0 16 16"
      width="16"
      height="16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {paths}
    </svg>
  );
}

export const SearchIcon = icon(<path d="M7 12a5 5 0 1 1 0-10 5 5 0 0 1 0 10Zm3.6-1.4L14 14" />);
export const CopyIcon = icon(<path d="M5.5 5.5h8v8h-8zM3 10.5h-.5v-8h8V3" />);
export const CheckIcon = icon(<path d="m3 8.5 3.2 3.2L13 5" />);
export const CrossIcon = icon(<path d="m4 4 8 8m0-8-8 8" />);
export const DashIcon = icon(<path d="M4 8h8" />);
export const ExternalLinkIcon = icon(<path d="M6 3.5H3v9.5h9.5V10M9 2.5h4.5V7M13.2 2.8 7.5 8.5" />);
export const SunIcon = icon(
  <path d="M8 11a3 3 0 1 1 0-6 3 3 0 0 1 0 6Zm0-9.5V2m0 12v.5M1.5 8H2m12 0h.5M3.4 3.4l.4.4m8.4 8.4.4.4m0-9.2-.4.4m-8.4 8.4-.4.4" />,
);
export const MoonIcon = icon(<path d="M13 9.8A5.5 5.5 0 0 1 6.2 3 5.5 5.5 0 1 0 13 9.8Z" />);
export const AutoIcon = icon(
  <>
    <circle cx="8" cy="8" r="5.5" />
    <path d="M8 2.5v11a5.5 5.5 0 0 0 0-11Z" fill="currentColor" stroke="none" />
  </>,
);

/** Each type has its own shape, so that types are distinguishable without color. */
export const AgentIcon = icon(
  <path d="M8 7.5a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.2ZM2.8 13.7a5.3 5.3 0 0 1 10.4 0" />,
);
export const ToolIcon = icon(
  <path d="M9.6 6.4 3 13M9.3 3.2a3.3 3.3 0 0 1 4-1l-2 2 .8 1.4 1.5.4 1-1.2a3.3 3.3 0 0 1-4.6 3.4" />,
);
export const ServerIcon = icon(<path d="M2.5 3h11v4.2h-11zM2.5 8.8h11V13h-11zM5 5.1h.01M5 10.9h.01" />);
