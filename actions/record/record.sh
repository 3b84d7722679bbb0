# Runs the input `run` as a step of its own would, under `kernrec run` where that is possible.
#
# A job may have exported variables of any name, and setting one here would change it for the commands.
kernrec_commands=$INPUT_RUN
kernrec_recorder=()
if [ -n "$KERNREC_ACTION_PROGRAM" ]; then
    kernrec_recorder=(
        "$KERNREC_ACTION_PROGRAM" run --step="$KERNREC_ACTION_STEP" --backend="$INPUT_BACKEND"
        --dir="$KERNREC_ACTION_FOLDER" --job-id="${KERNREC_ACTION_FOLDER##*/}" --commit="$INPUT_COMMIT"
        --shard="$KERNREC_ACTION_SHARD" --shards="$KERNREC_ACTION_SHARDS" --variant="$INPUT_VARIANT" --
    )
fi
# The commands get the environment that they would have had.
unset INPUT_RUN INPUT_BACKEND INPUT_VARIANT INPUT_COMMIT KERNREC_ACTION_PROGRAM KERNREC_ACTION_FOLDER \
    KERNREC_ACTION_STEP KERNREC_ACTION_SHARD KERNREC_ACTION_SHARDS
exec "${kernrec_recorder[@]}" bash --noprofile --norc -eo pipefail -c "$kernrec_commands"
