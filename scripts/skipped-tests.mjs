// A node:test reporter that lists skipped tests by reason at the end of a run.
export default async function* skippedTests(events) {
  const skipped = new Map();
  for await (const { type, data } of events) {
    if (type !== 'test:pass' || data.skip === undefined) continue;
    const reason = data.skip === true ? 'no reason given' : data.skip.replaceAll('*', '').trim();
    skipped.set(reason, [...(skipped.get(reason) ?? []), data.name]);
  }
  for (const [reason, names] of skipped) yield `Skipped ${names.length}, ${reason}: ${shortened(names)}\n`;
}

function shortened(names) {
  return names.length > 3 ? `${names.slice(0, 3).join('; ')} and others` : names.join('; ');
}
