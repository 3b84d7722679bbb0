# Sourced by the scripts of the actions.
#
# find_program sets `kernrec_program` to the path of kernrec, or leaves it empty and says why in `kernrec_problem`. It never
# fails: what a job does without the program is for the caller to decide.
#
# A job may have exported variables of any name, and setting one here would change it for the job's own commands. So what is
# not local to a function starts with `kernrec_`.

# The key of a step.
kernrec_key='^[A-Za-z0-9_.:][A-Za-z0-9_.:-]*$'

# A line that the runner shows as an annotation, on stderr, which the runner reads too. It reads % and line ends in the
# line, whoever wrote them.
annotate() { # error|warning|notice, text
    local text=${2//'%'/'%25'}
    text=${text//$'\r'/'%0D'}
    text=${text//$'\n'/'%0A'}
    printf '::%s title=kernrec::%s\n' "$1" "$text" >&2
}

# A line of the job's summary.
summarise() {
    if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
        printf '%s\n' "$@" >>"$GITHUB_STEP_SUMMARY" || true
    fi
}

find_program() {
    kernrec_program='' kernrec_problem=''
    local sha256=${INPUT_RELEASE_SHA256,,} found=''
    if [ -z "${INPUT_RELEASE_URL}${sha256}" ]; then
        # Absolute, since the commands may run in another folder.
        found=$(realpath -s -- "$(type -P kernrec)" 2>/dev/null) || kernrec_problem='kernrec is not on the PATH, and no release is named'
    elif ! [[ $sha256 =~ ^[0-9a-f]{64}$ ]]; then
        kernrec_problem='the input release-sha256 is not the 64 hexadecimal digits of a SHA-256'
    elif [ -z "$INPUT_RELEASE_URL" ]; then
        kernrec_problem='the input release-url is empty'
    else
        found=$(pinned_release "$sha256") || kernrec_problem='the pinned release could not be had'
    fi
    # A program of another machine's kind must not be found out by starting the job with it.
    if [ -n "$found" ] && ! "$found" --version >/dev/null 2>&1; then
        kernrec_problem="$found does not start"
        found=''
    fi
    kernrec_program=$found
}

# Prints the path of the program in the release with this digest, unpacked for this job.
pinned_release() {
    local folder cached=''
    folder=$(mktemp -d "${RUNNER_TEMP:-/tmp}/kernrec-program.XXXXXX") || return
    local archive=$folder/release
    if [ -n "${RUNNER_TOOL_CACHE:-}" ]; then
        cached=$RUNNER_TOOL_CACHE/kernrec/$1
    fi
    # The job's own copy is what is checked and unpacked: other jobs of the machine may write the cache meanwhile.
    if ! { [ -n "$cached" ] && cp -- "$cached" "$archive" 2>/dev/null && is_pinned "$archive" "$1"; }; then
        rm -f -- "$archive"
        curl --fail --silent --show-error --location --globoff --retry 3 --connect-timeout 20 --max-time 300 \
            --output "$archive" --url "$INPUT_RELEASE_URL" >&2 || return
        if ! is_pinned "$archive" "$1"; then
            echo 'kernrec: what was downloaded is not the pinned release' >&2
            return 1
        fi
        if [ -n "$cached" ]; then
            keep "$archive" "$cached"
        fi
    fi
    tar -xf "$archive" -C "$folder" >&2 && rm -f -- "$archive" && [ -x "$folder/kernrec" ] && echo "$folder/kernrec"
}

is_pinned() { # file, SHA-256
    [ "$(sha256sum <"$1" | cut -c1-64)" = "$2" ]
}

# A cache that cannot be written costs a download, no more.
keep() { # file, its place in the cache
    local new
    {
        mkdir -p -- "${2%/*}" &&
            new=$(mktemp "$2.XXXXXX") &&
            cp -- "$1" "$new" && chmod 644 "$new" && mv -f -- "$new" "$2"
    } 2>/dev/null || rm -f -- "${new:-}"
}
