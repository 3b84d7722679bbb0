if [ -n "$KERNREC_BIN" ]; then "$KERNREC_BIN" finish --status "$KERNREC_STATUS" || echo 'kernrec: the recording could not be finished' >&2; fi
