import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { compiled } from '../support/compiled.ts'
import { LONG } from '../support/size.ts'
import { BUGS } from './system/bugs.ts'

/** Within so many steps each bug is found; all of them with KONTOR_TESTS=long. */
const STEPS = 2_500
const FEW = ['a changed row is not written', 'a withdrawal is booked twice']
const SCRIPT = compiled('sim/system/planted.js')

test('there are twenty bugs of different kinds', () => assert.ok(Object.keys(BUGS).length >= 20))

for (const name of LONG ? Object.keys(BUGS) : FEW)
  test(`planted bug is caught: ${name}`, (t) => {
    const { stdout, stderr } = spawnSync(process.execPath, [SCRIPT, name, String(STEPS)], {
      encoding: 'utf8',
      timeout: 200_000,
    })
    // A platform that broke down may take its process along in the middle of its threads.
    assert.notEqual(stdout, '', `nobody noticed; ${stderr}`)
    const { step, message } = JSON.parse(stdout.trim().split('\n').at(-1)!) as {
      step: number
      message: string
    }
    assert.ok(step < STEPS)
    t.diagnostic(`step ${step}: ${message}`)
  })
