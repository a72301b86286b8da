// The CDK's CLI addresses buckets as names below localhost, which not every machine resolves.
const dns = require('node:dns')
const { lookup } = dns
dns.lookup = (host, ...rest) => lookup(host.endsWith('.localhost') ? '127.0.0.1' : host, ...rest)
