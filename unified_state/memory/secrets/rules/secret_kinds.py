"""Tokens recognized by their form alone: a public prefix, and the characters after it.

Most rows are generated from a public list of rules (`secret_table.py`). The rows here are kinds that the list lacks, or
wider than its rows because providers have lengthened a token since.
"""

from __future__ import annotations

from unified_state.memory.secrets.rules.secret_table import LISTED
from unified_state.memory.secrets.rules.secret_values import ALNUM, BASE64, DIGITS, DOTS, HEX, NAME, UPPER

TYPE_CHECKING = False
if TYPE_CHECKING:
    Format = tuple[str, bytes, bytes, int, int]

# Kind, prefixes, allowed characters after the prefix, their minimum and maximum number.
OWN: tuple[Format, ...] = (
    ("age-key", b"AGE-SECRET-KEY-1", DIGITS + UPPER, 58, 58),
    ("anthropic-key", b"sk-ant-", NAME, 32, 300),
    ("apify-token", b"apify_api_", ALNUM, 36, 40),
    ("atlassian-token", b"ATATT3 ATCTT3 ATSTT3", NAME + b"=", 60, 300),
    ("aws-key-id", b"AKIA ASIA ABIA ACCA", DIGITS + UPPER, 16, 16),
    ("bitbucket-password", b"ATBB", ALNUM, 32, 32),
    ("brevo-key", b"xkeysib- xsmtpsib-", ALNUM + b"-", 70, 100),
    ("buildkite-token", b"bkua_", HEX, 40, 40),
    ("circleci-token", b"CCIPAT_ CCIPRJ_", ALNUM + b"_", 40, 100),
    ("contentful-token", b"CFPAT-", NAME, 43, 43),
    ("docker-token", b"dckr_pat_ dckr_oat_", NAME, 27, 40),
    ("doppler-token", b"dp.pt. dp.ct. dp.sa. dp.st. dp.scim. dp.audit.", ALNUM, 40, 44),
    ("figma-token", b"figd_ figo_ figr_", NAME, 36, 60),
    ("github-token", b"ghp_ gho_ ghu_ ghs_ ghr_", ALNUM, 36, 255),
    ("github-token", b"github_pat_", ALNUM + b"_", 50, 255),
    ("gitlab-token", b"glpat- gldt- glft- glrt- gloas- glptt- glcbt- glimt- glsoat- glagent- glffct-", DOTS, 20, 300),
    ("google-oauth", b"GOCSPX-", NAME, 28, 28),
    ("google-oauth", b"ya29.", DOTS, 20, 2048),
    ("grafana-token", b"glsa_ glc_", BASE64 + b"_", 32, 400),
    ("groq-key", b"gsk_", ALNUM, 48, 64),
    ("hubspot-token", b"pat-na1- pat-na2- pat-eu1- pat-ap1-", HEX + b"-", 36, 36),
    ("huggingface-token", b"hf_ api_org_", ALNUM, 30, 40),
    ("jwt", b"eyJ", DOTS, 40, 16384),
    ("langfuse-key", b"sk-lf-", HEX + b"-", 36, 36),
    ("langsmith-key", b"lsv2_pt_ lsv2_sk_", ALNUM + b"_", 40, 60),
    ("linear-key", b"lin_api_ lin_oauth_", ALNUM, 32, 64),
    ("neon-key", b"napi_", ALNUM, 60, 70),
    ("netlify-token", b"nfp_", ALNUM, 36, 40),
    ("notion-token", b"ntn_ secret_", ALNUM, 43, 50),
    ("nuget-key", b"oy2", DIGITS + b"abcdefghijklmnopqrstuvwxyz", 43, 43),
    ("nvidia-key", b"nvapi-", NAME, 60, 80),
    ("openai-key", b"sk-", ALNUM, 32, 64),
    ("openai-key", b"sk-proj- sk-svcacct- sk-admin-", NAME, 40, 300),
    ("openrouter-key", b"sk-or-v1-", HEX, 64, 64),
    ("perplexity-key", b"pplx-", ALNUM, 40, 64),
    ("pinecone-key", b"pcsk_", ALNUM + b"_", 40, 80),
    ("posthog-key", b"phx_", ALNUM, 40, 50),
    ("pypi-token", b"pypi-Ag", NAME, 50, 1000),
    ("razorpay-key", b"rzp_live_ rzp_test_", ALNUM, 14, 14),
    ("render-key", b"rnd_", ALNUM, 28, 36),
    ("replicate-token", b"r8_", ALNUM, 37, 37),
    ("sentry-token", b"sntrys_ sntryu_", BASE64 + b"_", 64, 500),
    ("shopify-token", b"shpua_", HEX, 32, 32),
    ("slack-token", b"xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", ALNUM + b"-", 16, 512),
    ("sourcegraph-token", b"sgp_", ALNUM + b"_", 40, 64),
    ("square-token", b"EAAA", NAME, 60, 60),
    ("square-token", b"sq0atp- sq0csp- sq0idp-", NAME, 22, 60),
    ("stripe-key", b"sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_", ALNUM, 16, 255),
    ("stripe-webhook-key", b"whsec_", BASE64, 32, 80),
    ("supabase-key", b"sbp_", HEX, 40, 40),
    ("supabase-key", b"sb_secret_", NAME, 30, 50),
    ("tailscale-key", b"tskey-auth- tskey-api- tskey-client- tskey-scim- tskey-webhook-", ALNUM + b"-", 20, 100),
    ("together-key", b"tgp_v1_", NAME, 40, 60),
    ("vault-token", b"hvs. hvb. hvr.", NAME, 24, 300),
    ("vercel-token", b"vercel_blob_rw_", ALNUM + b"_", 30, 60),
    ("vercel-token", b"vcp_ vci_ vca_ vcr_ vck_", ALNUM, 56, 60),
    ("xai-key", b"xai-", ALNUM, 70, 90),
)  # fmt: skip

FORMATS = (*OWN, *LISTED)
