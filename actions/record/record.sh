# Runs the input `run` as a step of its own would, under `kernrec run`. Whatever is wrong with recording costs the
# recording only.
. "$GITHUB_ACTION_PATH/../program.sh"

commands=$INPUT_RUN
step=${INPUT_STEP:-$GITHUB_JOB}
shard=$INPUT_SHARD shards=$INPUT_SHARDS
# The jobs of a matrix that are not told apart otherwise are shards of one step.
if [ -z "$INPUT_STEP$shard$shards" ] && [ "${MATRIX_TOTAL:-1}" != 1 ]; then
    shard=$MATRIX_INDEX shards=$MATRIX_TOTAL
fi
# As kernrec would have it for a job with the step's name: `kernrec collect` looks for that.
job=$GITHUB_RUN_ID-$GITHUB_RUN_ATTEMPT-$step${shard:+-$shard}
job=${job//[^A-Za-z0-9._:-]/_}
folder=${RUNNER_TEMP:-/tmp}/kernrec/$job

find_program
if [[ ! $INPUT_BACKEND =~ ^(auto|cuda|rocm)$ ]]; then
    problem='the input backend is none of auto, cuda and rocm'
elif [[ ! $step =~ ^[A-Za-z0-9_.:-]+$ ]]; then
    problem='the step key is not made of letters, digits and _-:. alone'
fi
{
    echo "bundles=${folder%/*}/*.tar.zst"
    if [ -z "$problem" ]; then
        echo "program=$program"
        echo "folder=$folder"
        echo "step=$step"
    fi
} >>"$GITHUB_OUTPUT"

recorder=()
if [ -n "$problem" ]; then
    annotate warning "$problem: the commands run unrecorded"
else
    recorder=(
        "$program" run --step="$step" --backend="$INPUT_BACKEND" --dir="$folder" --job-id="$job"
        --commit="$INPUT_COMMIT" --shard="$shard" --shards="$shards" --variant="$INPUT_VARIANT" --
    )
fi
# The commands get the environment that they would have had.
unset INPUT_RUN INPUT_STEP INPUT_SHARD INPUT_SHARDS INPUT_BACKEND INPUT_VARIANT INPUT_COMMIT \
    MATRIX_INDEX MATRIX_TOTAL RELEASE_URL RELEASE_SHA256
exec "${recorder[@]}" bash --noprofile --norc -eo pipefail -c "$commands"
