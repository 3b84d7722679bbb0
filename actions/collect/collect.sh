# Collects and publishes one backend. Ends as `kernrec collect` does, but that a newer record is no failure.
set -f # The list of steps is words, never patterns of files.
. "$GITHUB_ACTION_PATH/../program.sh"

temp=${RUNNER_TEMP:-/tmp}
folder=${INPUT_OUT:-$temp/kernrec-collect}

failed() { # why
    annotate error "nothing was collected: $1"
    summarise "**kernrec:** nothing was collected: $1"
    echo outcome=failed >>"$GITHUB_OUTPUT"
    exit 1
}

# Adds a flag for an input that is `true`.
flag() { # flag, value
    case $2 in
    true) arguments+=("$1") ;;
    false | '') ;;
    *) failed "the input ${1#--} is neither true nor false" ;;
    esac
}

# Adds an option unless its value is empty.
option() { # option, value
    if [ -n "$2" ]; then
        arguments+=("$1=$2")
    fi
}

arguments=(
    --ci=github --backend="$INPUT_BACKEND" --store="$INPUT_STORE" --pipeline="$INPUT_PIPELINE" --out="$folder"
    --deadline="$INPUT_DEADLINE" --min-delivered="$INPUT_MIN_DELIVERED" --bundles="$INPUT_BUNDLES"
)
for step in $INPUT_STEPS; do
    option --step "$step"
done
option --only-branch "$INPUT_ONLY_BRANCH"
option --repo "$INPUT_REPOSITORY_PATH"
option --source-build "$INPUT_SOURCE_BUILD"
flag --allow-shrink "$INPUT_ALLOW_SHRINK"
flag --dry-run "$INPUT_DRY_RUN"
find_program
if [ -n "$kernrec_problem" ]; then
    failed "$kernrec_problem"
fi
if [ -n "$INPUT_SIGN_KEY" ]; then
    key=$(umask 077 && mktemp "$temp/kernrec-key.XXXXXX") || failed 'the key could not be kept for the program'
    trap 'rm -f -- "$key"' EXIT
    printf '%s\n' "$INPUT_SIGN_KEY" >"$key" || failed 'the key could not be kept for the program'
    option --sign-key "$key"
fi
unset INPUT_SIGN_KEY

echo "folder=$folder" >>"$GITHUB_OUTPUT"
"$kernrec_program" collect "${arguments[@]}"
status=$?
# The statuses of docs/exit-statuses.md. Of what ends with 0 the result says which it was.
case $status in
0)
    outcome=$(sed -n 's/^  "outcome": "\([a-z-]*\)".*/\1/p' "$folder/result.json")
    [ -n "$outcome" ] || outcome=failed status=1
    ;;
3) outcome=refused ;;
4) outcome=superseded status=0 ;;
5) outcome=unknown ;;
*) outcome=failed ;;
esac
echo "outcome=$outcome" >>"$GITHUB_OUTPUT"
exit "$status"
