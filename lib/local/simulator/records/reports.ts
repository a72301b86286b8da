import type { Life } from '../population.ts'
import { hash32, pick, unit } from '../random.ts'

const criteria = [
  'agents_md',
  'ci_runs_tests',
  'code_coverage',
  'codeowners',
  'dependency_updates',
  'dev_container',
  'error_tracking',
  'formatter',
  'integration_tests',
  'issue_templates',
  'large_file_check',
  'lint_config',
  'log_scrubbing',
  'pr_templates',
  'readme',
  'release_automation',
  'secret_scanning',
  'strict_typing',
  'structured_logs',
  'unit_tests',
] as const
const repositories = [
  'storefront',
  'billing',
  'search',
  'mobile-app',
  'data-pipelines',
  'docs',
  'infra',
  'auth',
] as const
const apps = [
  ['.', 'The service and its command line'],
  ['apps/web', 'Web shop with a React front end'],
  ['packages/api-client', 'Typed client of the public API'],
] as const

/** The address of the n-th repository, or undefined when there is none. */
export function repositoryUrlOf(n: number): string | undefined {
  return repositories[n] === undefined ? undefined : `https://git.example.com/acme/${repositories[n]}`
}

/** A readiness report as the API sends it (§2.1). */
export function reportOf(life: Life, reportId: string): Record<string, unknown> {
  const { key, version, createdAt } = life
  const repository = hash32(key, 1) % repositories.length
  const has = (salt: number, share: number) => unit(key, salt) < share
  const appCount = 1 + (repository % 3)
  return {
    reportId,
    createdAt,
    repoUrl: repositoryUrlOf(repository),
    apps: Object.fromEntries(apps.slice(0, appCount).map(([path, description]) => [path, { description }])),
    report: Object.fromEntries(
      criteria.filter((_, n) => unit(key, 100 + n) < 0.95).map((name, n) => [name, criterionOf(life, n, appCount)]),
    ),
    commitHash: has(2, 0.92) ? commitOf(key) : undefined,
    branch: has(3, 0.9)
      ? pick(['main', 'main', 'develop', 'feature/größer'], hash32(key, 4))
      : has(5, 0.3)
        ? null
        : undefined,
    hasLocalChanges: has(6, 0.85) ? has(7, 0.2) : undefined,
    hasNonRemoteCommits: has(8, 0.85) ? has(9, 0.1) : undefined,
    modelUsed: has(10, 0.88)
      ? { id: 'atlas-large', reasoningEffort: pick(['low', 'medium', 'high', 'off'], hash32(key, 11)) }
      : undefined,
    agentVersion: has(12, 0.93) ? `0.${20 + (life.age % 9)}.${version}` : undefined,
  }
}

function criterionOf({ key, age, version }: Life, n: number, appCount: number): Record<string, unknown> {
  const denominator = n % 4 === 0 ? appCount : 1
  // Younger reports pass a little more often, so that a pass rate over time has something to show.
  const chance = 0.35 + 0.5 * (age / (age + 300)) + (n % 5) * 0.03
  const numerator = Array.from({ length: denominator }, (_, app) => unit(key, 200 + n * 4 + app, version)).filter(
    (draw) => draw < chance,
  ).length
  return {
    numerator,
    denominator,
    rationale:
      numerator === denominator
        ? 'Found in every application.'
        : `Missing in ${denominator - numerator} of ${denominator}.`,
  }
}

function commitOf(key: number): string {
  return Array.from({ length: 5 }, (_, n) =>
    hash32(key, 20 + n)
      .toString(16)
      .padStart(8, '0'),
  ).join('')
}
