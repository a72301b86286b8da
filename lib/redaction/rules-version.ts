/**
 * Names what this folder takes for a secret: a digest of its sources. A record whose bytes are known is not looked into
 * again, so that it must change whenever a secret may be found that was not found before. A test tells the value to write
 * here when a source has changed.
 */
export const rulesVersion = '0911cb4cf9bb14fb'
