KERNREC_ROOT=.
for KERNREC_NAME in "${KERNREC_CHECKOUT_PATH:-}" "${BUILDKITE_BUILD_CHECKOUT_PATH:-}"; do
if [ -n "$KERNREC_NAME" ] && [ -d "$KERNREC_NAME" ]; then KERNREC_ROOT=$KERNREC_NAME; break; fi
done
@program@
if [ -n "$KERNREC_BIN" ]; then
if KERNREC_LINES=$("$KERNREC_BIN" env --backend @backend@@python@ --step '@step@' --dir "$KERNREC_ROOT/.kernrec/${BUILDKITE_JOB_ID:-local}"); then eval "$KERNREC_LINES"
else echo 'kernrec: set-up failed: this step runs unrecorded' >&2; KERNREC_BIN=; fi
fi
