# Finds the program, and says where the recording of the commands goes. Whatever is wrong costs the recording only: it never
# fails.
. "$GITHUB_ACTION_PATH/../program.sh"

step=${INPUT_STEP:-$GITHUB_JOB}
shard=$INPUT_SHARD shards=$INPUT_SHARDS
# The jobs of a matrix that are not told apart otherwise are shards of one step.
if [ -z "$INPUT_STEP$shard$shards" ] && [ "${INPUT_MATRIX_TOTAL:-1}" != 1 ]; then
    shard=$INPUT_MATRIX_INDEX shards=$INPUT_MATRIX_TOTAL
fi
# As kernrec would have it for a job with the step's name: `kernrec collect` looks for that.
job=$GITHUB_RUN_ID-$GITHUB_RUN_ATTEMPT-$step${shard:+-$shard}
job=${job//[^A-Za-z0-9._:-]/_}
folder=${RUNNER_TEMP:-/tmp}/kernrec/$job

find_program
if [[ ! $INPUT_BACKEND =~ ^(auto|cuda|rocm)$ ]]; then
    kernrec_problem='the input backend is none of auto, cuda and rocm'
elif [[ ! $step =~ $kernrec_key ]]; then
    kernrec_problem='the step key is not made of letters, digits and _-:. alone'
elif [[ $shard$shards == *$'\n'* ]]; then
    kernrec_problem='the inputs shard and shards are not numbers'
fi
{
    echo "bundles=${folder%/*}/*.tar.zst"
    if [ -z "$kernrec_problem" ]; then
        printf '%s\n' "program=$kernrec_program" "folder=$folder" "step=$step" "shard=$shard" "shards=$shards"
    fi
} >>"$GITHUB_OUTPUT"
if [ -n "$kernrec_problem" ]; then
    annotate warning "$kernrec_problem: the commands run unrecorded"
fi
exit 0
