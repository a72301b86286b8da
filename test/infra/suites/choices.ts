import { describe, expect, it } from 'vitest'
import { functionNames, takenEndings } from '../../../infra/choices.ts'
import { permissionsOf, type Statement } from '../role-permissions.ts'
import { functionNamed, platform, resolved, synthesize, variablesOf } from '../synthesized.ts'

const hooks = { enabled: true }
const plain = synthesize({ hooks })

describe('names of installations', () => {
  /** What a template calls by a name that begins with that of the installation, by type, without that name. */
  function endings(): Map<string, Set<string>> {
    const found = new Map<string, Set<string>>()
    for (const template of [plain.stateful, plain.stateless]) {
      for (const { Type, Properties = {} } of Object.values(template.toJSON().Resources as Record<string, Named>)) {
        for (const value of Object.values({ ...Properties, ...(Properties.DatabaseInput as object) })) {
          const name = nameIn(value)
          const kept = found.get(Type) ?? new Set()
          if (name !== null) found.set(Type, kept.add(name))
        }
      }
    }
    return found
  }
  type Named = { Type: string; Properties?: Record<string, unknown> }

  function nameIn(value: unknown): string | null {
    // Glue knows no hyphens.
    const text = (typeof value === 'string' ? value : joinedIn(value))?.replaceAll('_', '-')
    const found = text?.match(/^(?:alias\/)?platform-sync(?:-([\w.-]+))?$/)
    return found ? (found[1] ?? '') : null
  }

  function joinedIn(value: unknown): string | null {
    try {
      return resolved(value)
    } catch {
      return null
    }
  }

  it('are refused when they end as a resource of another installation does that it would have as well', () => {
    const shared = new Set<string>()
    for (const all of endings().values()) {
      for (const ending of all) {
        for (const own of all) {
          // An installation `x-<rest>` with its own `<own>` is an installation `x` with `<ending>`.
          if (own === '' && ending !== '') shared.add(ending)
          if (own !== '' && ending.endsWith(`-${own}`)) shared.add(ending.slice(0, -own.length - 1))
        }
      }
    }
    expect([...shared].sort()).toEqual([...takenEndings].sort())
  })
})

describe('secrets under a key of their own', () => {
  const kmsKeyArn = 'arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d'
  const chosen = synthesize({ hooks, secrets: { kmsKeyArn } })

  it('can be read by the functions that read them, and the key serves nothing else', () => {
    const added = (role: string) => {
      const before = permissionsOf(role, plain)
      return permissionsOf(role, chosen).filter((permission) => !before.includes(permission))
    }
    const decrypt = ['kms:Decrypt on arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d']
    for (const role of ['SyncStreamRole', 'LimitsApplyRole', 'HooksCollectRole']) expect(added(role)).toEqual(decrypt)
    for (const role of [
      'PublishRunRole',
      'AuditDigestRole',
      'LimitsImportRole',
      'LimitsPolicyRole',
      'HooksStoreRole',
    ]) {
      expect(added(role)).toEqual([])
    }
  })
})

describe('reserved concurrency', () => {
  it('is that of the function that it names, and of no other', () => {
    const chosen = synthesize({ hooks, reservedConcurrency: { 'apply-credit-limits': 2 } })
    const reserved = functionNames.map((name) => functionNamed(name, chosen).ReservedConcurrentExecutions)
    expect(reserved.filter((each) => each !== undefined)).toEqual([2])
    expect(functionNamed('apply-credit-limits', chosen).ReservedConcurrentExecutions).toBe(2)
  })
})

describe('a network of its own', () => {
  const subnetIds = ['subnet-0a1b2c3d', 'subnet-0a1b2c3e']
  const securityGroupIds = ['sg-0a1b2c3d']
  const chosen = synthesize({ hooks, network: { subnetIds, securityGroupIds } })

  it('is that of every function, which may not use the rights itself that Lambda needs for it', () => {
    for (const name of functionNames) {
      expect(functionNamed(name, chosen).VpcConfig).toEqual({
        SubnetIds: subnetIds,
        SecurityGroupIds: securityGroupIds,
      })
      const policies = [...chosen.resources('AWS::IAM::Policy'), ...chosen.resources('AWS::IAM::ManagedPolicy')]
      const statements = policies.flatMap(
        ([, { Properties }]) => (Properties.PolicyDocument as { Statement: Statement[] }).Statement,
      )
      const denied = statements.filter(({ Effect, Condition }) => {
        return Effect === 'Deny' && JSON.stringify(Condition).includes(`:function:platform-sync-${name}"`)
      })
      expect([name, denied.map(({ Action }) => Action)]).toEqual([name, [expect.arrayContaining([anInterface])]])
    }
    expect(permissionsOf('HooksCollectRole', chosen)).toContain(`${anInterface} on *`)
    expect(chosen.findings).toEqual([])
  })
  const anInterface = 'ec2:CreateNetworkInterface'

  it('is none by default', () => {
    expect(JSON.stringify(plain.resources('AWS::Lambda::Function'))).not.toMatch(/VpcConfig|PROXY|ReservedConc/)
    expect(JSON.stringify(plain.resources('AWS::IAM::Policy'))).not.toContain('ec2:')
  })

  it('can have a proxy, which those functions take that ask the platform', () => {
    const network = { httpsProxy: 'http://proxy.example.com:3128', noProxy: ['.internal'] }
    const proxied = synthesize({ platform, network })
    for (const name of ['sync-stream', 'apply-credit-limits']) {
      expect(variablesOf(proxied, name)).toMatchObject({
        NODE_USE_ENV_PROXY: '1',
        HTTPS_PROXY: 'http://proxy.example.com:3128',
        NO_PROXY: 'localhost,127.0.0.1,.internal',
      })
    }
    expect(variablesOf(proxied, 'import-credit-limits')).toHaveProperty('NODE_USE_ENV_PROXY')
    expect(variablesOf(proxied, 'write-report')).not.toHaveProperty('HTTPS_PROXY')
  })
})
