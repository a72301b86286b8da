// One file, since both run what one synth has bundled.
import './suites/bundles.ts'
import './suites/state-machine.ts'
