# Says whether the commands were recorded, and packs what a killed recorder left. Never fails.
. "$GITHUB_ACTION_PATH/../program.sh"

recorded=false
sidecar=$FOLDER/kernrec.json
if [ -z "$PROGRAM" ]; then
    said='not recorded: see the warning in the log of the job'
elif [ ! -f "$sidecar" ]; then
    said='not recorded: nothing could be written'
    annotate warning "$STEP was not recorded: $FOLDER could not be written"
elif grep -q '^  "collection_available": true' "$sidecar" && grep -q '^  "collection_error": null' "$sidecar"; then
    recorded=true
    said='recorded'
else
    # The first word of the reason. The rest may be of any length, and anybody's.
    word=$(sed -n 's/^  "collection_error": "\([a-z-]*\).*/\1/p' "$sidecar")
    said="not recorded: ${word:-no reason is known}"
    annotate warning "$STEP was not recorded: ${word:-no reason is known}"
fi
if grep -qs '^  "exit_status": null' "$sidecar"; then
    "$PROGRAM" pack "$FOLDER" --out "${FOLDER%/*}" || annotate warning "the recordings of $STEP could not be packed"
fi
echo "recorded=$recorded" >>"$GITHUB_OUTPUT"
summarise "**kernrec:** ${STEP:+\`$STEP\` }$said"
