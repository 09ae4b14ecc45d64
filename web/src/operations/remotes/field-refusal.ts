// Finds the field that made the hub refuse a new remote, and explains it.
import type { HubFailure } from '../../api/failure.ts';

export interface FieldRefusal {
  field: 'url' | 'name';
  sentence: string;
}

const LABELS = { url: 'address', name: 'name' } as const;

/** Returns undefined if no field is at fault. */
export function fieldRefusal(address: string, failure: HubFailure): FieldRefusal | undefined {
  if (failure.kind !== 'refused') return undefined;
  const [fault] = failure.faults;
  const field = fault?.path === 'name' ? 'name' : 'url';
  if (field === 'url' && !/^https?:$/.test(URL.parse(address.trim())?.protocol ?? ''))
    return { field, sentence: 'The address must start with http:// or https://.' };
  return { field, sentence: fault ? `The ${LABELS[field]} ${fault.message.replace(/\.$/, '')}.` : failure.message };
}
