# Fetches the newest record and asks it about the change. Ends with 0 and the answer "everything" whatever goes wrong on
# the way; only a workflow that asks wrongly fails.
set -f # Keys and lists are words, never patterns of files.
. "$GITHUB_ACTION_PATH/../program.sh"

main() {
    read_keys
    # What stands first in the file of outputs holds if nothing else comes: the job may be killed at any line below.
    answer true '' "${keys[@]}"
    folder=$(mktemp -d "${RUNNER_TEMP:-/tmp}/kernrec-select.XXXXXX") ||
        everything warning 'no folder could be made in RUNNER_TEMP'
    data=${INPUT_DATA:-$folder/coverage-data}
    find_program
    if [ -n "$kernrec_problem" ]; then
        everything warning "$kernrec_problem"
    elif [ -z "$INPUT_BASE" ]; then
        everything notice 'this is no pull request, and the input base is empty'
    fi
    fetch
    ask
}

read_keys() {
    local key
    # shellcheck disable=SC2206 # words are what is wanted
    keys=($INPUT_ALL_KEYS)
    for key in "${keys[@]}"; do
        if [[ ! $key =~ $kernrec_key ]]; then
            wrong "the input all-keys has \"$key\": a key is made of letters, digits and _-:. alone"
        fi
    done
    if [ ${#keys[@]} = 0 ]; then
        wrong 'the input all-keys names no step'
    fi
}

# What is installed already stays if this fails, and is asked as long as it is fresh.
fetch() {
    local arguments=(--url="$INPUT_URL" --out="$data" --backend="$INPUT_BACKEND" --pipeline="$INPUT_PIPELINE")
    "$kernrec_program" fetch "${arguments[@]}" "${required[@]}" >&2 ||
        annotate warning "no newer record could be fetched: kernrec fetch ended with status $?"
}

ask() {
    local steps=() backend=() file status
    while IFS= read -r file; do
        [ -z "$file" ] || steps+=(--steps="$file")
    done <<<"$INPUT_STEPS"
    if [ ${#steps[@]} = 0 ]; then
        printf '{"steps":%s}\n' "$(array '{"key":"%s"}' "${keys[@]}")" >"$folder/steps.json"
        steps=(--steps="$folder/steps.json")
    fi
    if [ "$INPUT_BACKEND" != all ]; then
        backend=(--backend="$INPUT_BACKEND")
    fi
    GITHUB_OUTPUT=$folder/outputs "$kernrec_program" select --format=github --write="json=$folder/report.json" \
        --data="$data" --repo="$INPUT_REPOSITORY_PATH" --diff="$INPUT_BASE...$INPUT_HEAD" --max-age="$INPUT_MAX_AGE" \
        "${steps[@]}" "${backend[@]}" "${required[@]}" >&2
    status=$?
    if [ $status = 0 ] && grep -qx 'everything-must-run=false' "$folder/outputs"; then
        decide "$(sed -n 's/^skip=//p' "$folder/outputs")"
    elif [ $status = 6 ]; then
        echo "report=$folder/report.json" >>"$GITHUB_OUTPUT"
        annotate notice 'every step must run: see the summary of the job'
    else
        everything warning "kernrec select ended with status $status"
    fi
}

# A key of ours needs no escape in JSON, so it is in the array exactly if it stands there between quotes, as an element.
decide() { # JSON array of what may be skipped
    local key run=() skip=()
    for key in "${keys[@]}"; do
        if [[ $1 == *[[,]\""$key"\"[],]* ]]; then
            skip+=("$key")
        else
            run+=("$key")
        fi
    done
    echo "report=$folder/report.json" >>"$GITHUB_OUTPUT"
    answer false "$(array '"%s"' "${skip[@]}")" "${run[@]}"
}

everything() { # warning|notice, why
    annotate "$1" "every step must run: $2"
    summarise '**kernrec:** every step must run.' '' "$2"
    exit 0
}

wrong() { # what
    echo run-everything=true >>"$GITHUB_OUTPUT"
    annotate error "$1"
    summarise "**kernrec:** the workflow asks wrongly; see the log."
    exit 1
}

# The later of two values of an output is the one that counts. The word that lets others be left out comes last.
answer() { # true|false, JSON array of what may be skipped, keys that must run
    local everything=$1 skipped=${2:-[]}
    shift 2
    printf 'keys=%s\nskipped=%s\nrun-everything=%s\n' "$(array '"%s"' "$@")" "$skipped" "$everything" >>"$GITHUB_OUTPUT"
}

# Prints a JSON array of what needs no escape.
array() { # form of an element, elements
    local form=$1 element comma='' list=''
    shift
    for element in "$@"; do
        # shellcheck disable=SC2059 # the form is ours
        list+=$comma$(printf "$form" "$element")
        comma=,
    done
    printf '[%s]' "$list"
}

required=()
while IFS= read -r file; do
    [ -z "$file" ] || required+=(--require-key="$file")
done <<<"$INPUT_REQUIRE_KEY"
main
