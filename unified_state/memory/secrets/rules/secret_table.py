"""Forms of tokens, which tests/tools/make_secret_formats.py generates from rules of gitleaks.

The rules are copyright (c) 2019 Zachary Rice, under the MIT License; `tests/tools/gitleaks/` has them and
the license.
"""

from __future__ import annotations

from unified_state.memory.secrets.rules.secret_values import ALNUM, BASE64, DIGITS, DOTS, HEX, LOWER, NAME, UPPER

# Kind, prefixes, allowed characters after the prefix, their minimum and maximum number.
LISTED: tuple[tuple[str, bytes, bytes, int, int], ...] = (
    ("1password-secret-key", b"A3-", UPPER + DIGITS + b"-", 36, 36),
    ("1password-secret-key", b"A3-", UPPER + DIGITS + b"-", 37, 37),
    ("1password-service-account-token", b"ops_eyJ", BASE64, 250, 1000),
    ("adobe-client-secret", b"p8e-", ALNUM, 32, 32),
    ("alibaba-access-key-id", b"LTAI", ALNUM, 20, 20),
    ("artifactory-api-key", b"AKCp", ALNUM, 69, 69),
    ("artifactory-reference-token", b"cmVmd", ALNUM, 59, 59),
    ("aws-key-id", b"A3T", UPPER + DIGITS, 17, 17),
    ("clickhouse-cloud-api-secret-key", b"4b1d", ALNUM, 38, 38),
    ("clojars-api-token", b"CLOJARS_", ALNUM, 60, 60),
    ("databricks-token", b"dapi", DIGITS + b"-abcdef", 32, 34),
    ("defined-networking-api-token", b"dnkey-", NAME + b"=", 79, 79),
    ("digitalocean-token", b"doo_v1_ dop_v1_", DIGITS + b"abcdef", 64, 64),
    ("digitalocean-token", b"dor_v1_", HEX, 64, 64),
    ("dropbox-short-lived-api-token", b"sl.", NAME + b"=", 135, 135),
    ("duffel-api-token", b"duffel_test_ duffel_live_", NAME + b"=", 43, 43),
    ("dynatrace-api-token", b"dt0c01.", ALNUM + b".", 89, 89),
    ("easypost-api-token", b"EZAK", ALNUM, 54, 54),
    ("easypost-test-api-token", b"EZTK", ALNUM, 54, 54),
    ("facebook-page-access-token", b"EAAC EAAM", ALNUM, 100, 1000),
    ("flutterwave-secret-key", b"FLWSECK_TEST-", HEX + b"-GHXgh", 34, 34),
    ("flyio-access-token", b"fm1a_ fm1r_ fm2_", BASE64, 100, 1000),
    ("flyio-access-token", b"fo1_", NAME, 43, 43),
    ("frameio-api-token", b"fio-u-", NAME + b"=", 64, 64),
    ("gitlab-token", b"GR1348941", NAME, 20, 20),
    ("google-key", b"AIza", NAME, 35, 35),
    ("harness-api-key", b"pat. sat.", DOTS, 68, 68),
    ("heroku-api-key-v2", b"HRKU-AA", NAME, 58, 58),
    ("infracost-api-token", b"ico-", ALNUM, 32, 32),
    ("intra42-client-secret", b"s-s4t2ud- s-s4t2af-", HEX, 64, 64),
    ("mapbox-api-token", b"pk.", ALNUM + b".", 83, 83),
    ("new-relic-browser-api-token", b"NRJS-", HEX, 19, 19),
    ("new-relic-insert-key", b"NRII-", ALNUM + b"-", 32, 32),
    ("new-relic-user-api-key", b"NRAK-", ALNUM, 27, 27),
    ("npm-token", b"npm_", ALNUM, 36, 36),
    ("octopus-deploy-api-key", b"API-", UPPER + DIGITS, 26, 26),
    ("openshift-user-token", b"sha256~", NAME, 43, 43),
    ("plaid-api-token", b"access-sandbox- access-development- access-production-", HEX + b"-", 36, 36),
    ("planetscale-token", b"pscale_tkn_ pscale_oauth_ pscale_pw_", DOTS + b"=", 32, 64),
    ("postman-key", b"PMAK-", HEX + b"-", 59, 59),
    ("prefect-api-token", b"pnu_", ALNUM, 36, 36),
    ("pulumi-token", b"pul-", DIGITS + b"abcdef", 40, 40),
    ("readme-api-token", b"rdme_", LOWER + DIGITS, 70, 70),
    ("rubygems-key", b"rubygems_", DIGITS + b"abcdef", 48, 48),
    ("scalingo-api-token", b"tk-us-", NAME, 48, 48),
    ("sendgrid-key", b"SG.", DOTS + b"=", 66, 66),
    ("settlemint-application-access-token", b"sm_aat_", ALNUM, 16, 16),
    ("settlemint-personal-access-token", b"sm_pat_", ALNUM, 16, 16),
    ("settlemint-service-access-token", b"sm_sat_", ALNUM, 16, 16),
    ("shippo-api-token", b"shippo_live_ shippo_test_", HEX, 40, 40),
    ("shopify-token", b"shpat_ shpca_ shppa_ shpss_", HEX, 32, 32),
    (
        "twilio-api-key",
        b"SK0 SK1 SK2 SK3 SK4 SK5 SK6 SK7 SK8 SK9 SKA SKB SKC SKD SKE SKF SKa SKb SKc SKd SKe SKf",
        HEX,
        31,
        31,
    ),
    ("typeform-api-token", b"tfp_", DOTS + b"=", 59, 59),
    ("yandex-api-key", b"AQVN", NAME, 35, 38),
)
