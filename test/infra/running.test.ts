// One file, since all run what one synth has bundled.
import './suites/bundles.ts'
import './suites/following-tables.ts'
import './suites/provisioning.ts'
import './suites/rights.ts'
import './suites/state-machine.ts'
