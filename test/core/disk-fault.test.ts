import { describe, expect, it } from 'vitest'
import { diskError, diskFaultOf } from '../../lib/core/disk-fault.ts'

function failed(message: string, more: object = {}) {
  return Object.assign(new Error(message), more)
}

describe('what the disk of this machine refused', () => {
  it.each([
    ['the system', failed('write', { code: 'ENOSPC' }), 'full'],
    ['the system', failed('write', { code: 'EDQUOT' }), 'quota'],
    ['the system', failed('open', { code: 'EACCES' }), 'denied'],
    ['the system', failed('open', { code: 'EROFS' }), 'read-only'],
    ['LevelDB', failed('IO error: 5.log: No space left on device', { code: 'LEVEL_IO_ERROR' }), 'full'],
    ['LevelDB', failed('IO error: 5.log: Read-only file system', { code: 'LEVEL_IO_ERROR' }), 'read-only'],
    ['DuckDB', failed('IO Error: Could not write file "a": No space left on device'), 'full'],
    ['SQLite', failed('database or disk is full', { code: 'ERR_SQLITE_ERROR', errcode: 13 }), 'full'],
    ['SQLite', failed('attempt to write a readonly database', { errcode: 8 | (1 << 8) }), 'denied'],
    ['a cause', failed('open', { cause: failed('write', { code: 'ENOSPC' }) }), 'full'],
  ])('is read in the words of %s', (_who, error, fault) => {
    expect(diskFaultOf(error)).toBe(fault)
  })

  it('is not read into what a server or a damaged file says', () => {
    expect(diskFaultOf(failed('403: permission denied'))).toBeNull()
    expect(diskFaultOf(failed('Corruption: bad magic number', { code: 'LEVEL_CORRUPTION' }))).toBeNull()
    expect(diskError('ENOSPC', '/data')).toBeNull()
  })

  it('is told with the place and what to do, which is never to delete anything', () => {
    const full = diskError(failed('write', { code: 'ENOSPC' }), '/data')
    expect(full).toMatchObject({
      code: 'disk_full',
      message: expect.stringMatching(/^The disk is full: \/data .*Make room/),
    })
    const denied = diskError(failed('open', { code: 'EACCES' }), '/data')
    expect(denied).toMatchObject({
      code: 'usage',
      message: expect.stringMatching(/^This account may not write: \/data/),
    })
    for (const error of [full, denied]) expect(error?.message).not.toMatch(/delete/i)
  })
})
