// Warnings to read before an installed entity is used.

export function Warnings({ warnings }: { warnings: readonly string[] }) {
  return (
    <>
      {warnings.map((warning) => (
        <p key={warning}>
          <Warning text={warning} />
        </p>
      ))}
    </>
  );
}

export function Warning({ text }: { text: string }) {
  return (
    <span class="reason reason-warn">
      <span class="reason-label">Warning</span> {text}
    </span>
  );
}
