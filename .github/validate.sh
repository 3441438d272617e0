#!/usr/bin/env bash
# The step of the action in action.yml. Its inputs are environment variables, which the shell does
# not run as code:
#
#   EXSET_FILES     the files, with blanks between them; exset expands the patterns
#   EXSET_OPTIONS   options of `exset validate`
#   EXSET_SARIF     a file for a report in the format SARIF, or empty
set -euo pipefail
set -f  # the shell must not expand patterns

read -r -d '' -a files <<<"${EXSET_FILES:-}" || true
read -r -d '' -a options <<<"${EXSET_OPTIONS:-}" || true
if [ "${#files[@]}" = 0 ]; then
    echo "::error::the input 'files' of the action is empty"
    exit 2
fi

if [ -n "${EXSET_SARIF:-}" ]; then
    options+=(--report "sarif=$EXSET_SARIF")
fi
exset validate "${options[@]}" --output-format github -- "${files[@]}"
