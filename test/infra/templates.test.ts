// One file, since loading the CDK takes longer than all that is asked of it.
import './suites/catalog.ts'
import './suites/hooks.ts'
import './suites/messages.ts'
import './suites/permissions.ts'
import './suites/policy.ts'
import './suites/provisioned.ts'
import './suites/stateful.ts'
import './suites/stateless.ts'
