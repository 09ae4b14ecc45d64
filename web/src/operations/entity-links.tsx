// Links to the entities that an ingest changed.
import { entityPath } from '../router.ts';

export function EntityLinks({ ids }: { ids: readonly string[] }) {
  return (
    <ul>
      {ids.map((id) => (
        <li key={id}>
          <a href={entityPath(id)}>{id}</a>
        </li>
      ))}
    </ul>
  );
}
