import type * as z from 'zod'
import { policyPlaces } from '../limits/inbox-places.ts'
import type { PolicyFolder } from '../limits/policy/load-policy.ts'
import { Approval, KeptPlan, PolicyMemory, type PolicyStore, readKept } from '../limits/policy/memory.ts'
import type { ObjectStore } from './objects.ts'

type Objects = Pick<ObjectStore, 'get' | 'put'>

/** The policy and its lists in the inbox bucket. */
export function createPolicyFolder({ get }: Pick<Objects, 'get'>): PolicyFolder {
  return { read: (name) => get(`${policyPlaces.policy}${name}`) }
}

/** Plans, approvals and the memory of a policy in the inbox bucket, an object each. */
export function createPolicyStore({ get, put }: Objects): PolicyStore {
  const memoryKey = `${policyPlaces.plans}memory.json`
  const newestKey = `${policyPlaces.plans}newest.json`
  const planKey = (id: string) => `${policyPlaces.plans}${id}.json`
  const approvalKey = (id: string) => `${policyPlaces.approvals}${id}.json`
  const read = async <S extends z.ZodType>(schema: S, key: string): Promise<z.infer<S> | null> => {
    const bytes = await get(key)
    return bytes && readKept(schema, bytes, key)
  }
  const write = (key: string, value: unknown) =>
    put(key, Buffer.from(JSON.stringify(value)), { contentType: 'application/json' })
  return {
    memory: () => read(PolicyMemory, memoryKey),
    writeMemory: (memory) => write(memoryKey, memory),
    newest: () => read(KeptPlan, newestKey),
    writePlan: async (kept) => {
      await write(planKey(kept.plan.id), kept)
      await write(newestKey, kept)
    },
    plan: (id) => read(KeptPlan, planKey(id)),
    approval: (planId) => read(Approval, approvalKey(planId)),
    writeApproval: (approval) => write(approvalKey(approval.planId), approval),
  }
}
