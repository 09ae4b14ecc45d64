// The public types of a trust check.
import { z } from 'zod';
import { Trust } from '../catalog/contract.ts';

export const TrustChecked = Trust.extend({
  id: z.string(),
  note: z.string().optional().describe('What is still in the gateway, and why.'),
}).meta({ id: 'TrustChecked' });
export type TrustChecked = z.infer<typeof TrustChecked>;
