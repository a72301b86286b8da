// Derived from @secretlint/secretlint-rule-preset-recommend 13.1.0 (MIT). `vitest run test/redaction/known-formats.test.ts -u` writes it.

/** The forms of credentials that vendors have published, as the rule set of secretlint keeps them. */
export const knownFormats: readonly RegExp[] = [
  // aws
  /\b(A3T[A-Z0-9]|AKIA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA|ASIA)[A-Z0-9]{16}\b/,
  // npm
  /npm_[A-Za-z0-9_]{36}(?![A-Za-z0-9_])/,
  // slack
  /\b(?:xoxb|xoxp|xapp|xoxa|xoxo|xoxr)-(?:\d-)?(?:[a-zA-Z0-9]{1,40}-)+[a-zA-Z0-9]{1,40}\b/,
  // shopify
  /(shppa|shpca|shpat|shpss)_[a-zA-Z0-9]{32,64}(?![a-zA-Z0-9])/,
  // stripe
  /(?:sk_live|sk_test|rk_live|rk_test)_[a-zA-Z0-9]{24,99}(?![a-zA-Z0-9])/,
  // github
  /(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9_]{36}(?![A-Za-z0-9_])/,
  /(?:github_pat)_[A-Za-z0-9_]{82}(?![A-Za-z0-9_])/,
  /(?:ghs)_[0-9]{1,20}_[A-Za-z0-9_-]{1,1000}\.[A-Za-z0-9_-]{1,10000}\.[A-Za-z0-9_-]{1,1000}(?![A-Za-z0-9_-])/,
  // gitlab
  /glpat-[A-Za-z0-9_-]{20,128}(?![A-Za-z0-9_-])/,
  // grafana
  /glc_[A-Za-z0-9+/]{32,400}={0,2}(?![A-Za-z0-9+/=])/,
  /glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}(?![A-Fa-f0-9])/,
  // openai
  /sk-(?:proj|svcacct|admin)-(?:[A-Za-z0-9_-]{74}|[A-Za-z0-9_-]{58})T3BlbkFJ(?:[A-Za-z0-9_-]{74}|[A-Za-z0-9_-]{58})\b|sk-[a-zA-Z0-9]{20}T3BlbkFJ[a-zA-Z0-9]{20}/,
  // anthropic
  /sk-ant-api0\d-[A-Za-z0-9_-]{90,128}AA(?![A-Za-z0-9_-])/,
  // groq
  /gsk_[a-zA-Z0-9]{52}(?![a-zA-Z0-9])/,
  // huggingface
  /hf_[a-zA-Z]{34}(?![a-zA-Z])/,
  // linear
  /lin_api_[a-zA-Z0-9_]{32,128}(?![a-zA-Z0-9_])/,
  // notion
  /ntn_[0-9]{11}[A-Za-z0-9]{35}(?![A-Za-z0-9])/,
  // 1password
  /ops_(ey[A-Za-z0-9+/=]{100,1280}fQ={0,2})(?![A-Za-z0-9+/=])/,
  // hashicorp-vault
  /hvs\.[A-Za-z0-9_-]{90,120}(?![A-Za-z0-9_-])/,
  /hvb\.[A-Za-z0-9_-]{138,300}(?![A-Za-z0-9_-])/,
  /hvr\.[A-Za-z0-9_-]{90,120}(?![A-Za-z0-9_-])/,
  // vercel
  /(?:vcp|vci|vca|vcr|vck)_[A-Za-z0-9]{20,60}(?![A-Za-z0-9])/,
  // databricks
  /dapi[A-Fa-f0-9]{32}(?:-[0-9])?(?![A-Fa-f0-9])/,
  // docker
  /dckr_pat_[a-zA-Z0-9_-]{27}(?![a-zA-Z0-9_-])/,
  // figma
  /figd_[A-Za-z0-9_-]{40,200}(?![A-Za-z0-9_-])/,
  // cloudflare
  /(?:cfk|cfut|cfat)_[A-Za-z0-9]{40}[0-9a-f]{8}(?![A-Za-z0-9])/,
  // tailscale
  /tskey-(?:[a-z]{2,20})-[0-9A-Za-z_]{8,40}-[0-9A-Za-z_]{16,60}(?![0-9A-Za-z_])/,
]
