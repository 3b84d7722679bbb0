# Runs the input `run` as a step of its own would, under `kernrec run`. Whatever is wrong with recording costs the
# recording only.
. "$GITHUB_ACTION_PATH/../program.sh"

kernrec_commands=$INPUT_RUN
kernrec_step=${INPUT_STEP:-$GITHUB_JOB}
kernrec_shard=$INPUT_SHARD kernrec_shards=$INPUT_SHARDS
# The jobs of a matrix that are not told apart otherwise are shards of one step.
if [ -z "$INPUT_STEP$kernrec_shard$kernrec_shards" ] && [ "${INPUT_MATRIX_TOTAL:-1}" != 1 ]; then
    kernrec_shard=$INPUT_MATRIX_INDEX kernrec_shards=$INPUT_MATRIX_TOTAL
fi
# As kernrec would have it for a job with the step's name: `kernrec collect` looks for that.
kernrec_job=$GITHUB_RUN_ID-$GITHUB_RUN_ATTEMPT-$kernrec_step${kernrec_shard:+-$kernrec_shard}
kernrec_job=${kernrec_job//[^A-Za-z0-9._:-]/_}
kernrec_folder=${RUNNER_TEMP:-/tmp}/kernrec/$kernrec_job

find_program
if [[ ! $INPUT_BACKEND =~ ^(auto|cuda|rocm)$ ]]; then
    kernrec_problem='the input backend is none of auto, cuda and rocm'
elif [[ ! $kernrec_step =~ $kernrec_key ]]; then
    kernrec_problem='the step key is not made of letters, digits and _-:. alone'
fi
{
    echo "bundles=${kernrec_folder%/*}/*.tar.zst"
    if [ -z "$kernrec_problem" ]; then
        echo "program=$kernrec_program"
        echo "folder=$kernrec_folder"
        echo "step=$kernrec_step"
    fi
} >>"$GITHUB_OUTPUT"

kernrec_recorder=()
if [ -n "$kernrec_problem" ]; then
    annotate warning "$kernrec_problem: the commands run unrecorded"
else
    kernrec_recorder=(
        "$kernrec_program" run --step="$kernrec_step" --backend="$INPUT_BACKEND" --dir="$kernrec_folder"
        --job-id="$kernrec_job" --commit="$INPUT_COMMIT" --shard="$kernrec_shard" --shards="$kernrec_shards"
        --variant="$INPUT_VARIANT" --
    )
fi
# The commands get the environment that they would have had.
unset INPUT_RUN INPUT_STEP INPUT_SHARD INPUT_SHARDS INPUT_BACKEND INPUT_VARIANT INPUT_COMMIT INPUT_MATRIX_INDEX \
    INPUT_MATRIX_TOTAL INPUT_RELEASE_URL INPUT_RELEASE_SHA256
exec "${kernrec_recorder[@]}" bash --noprofile --norc -eo pipefail -c "$kernrec_commands"
