if KERNREC_HOME=$(mktemp -d) && (
cd "$KERNREC_HOME" || exit 1
verified() { echo '@sha256@  release' | sha256sum -c - >/dev/null 2>&1; }
if ! { cp '@cache@/@sha256@' release 2>/dev/null && verified; }; then
rm -f release
@get@ || exit 1
verified || { echo 'kernrec: what was downloaded is not the pinned release' >&2; exit 1; }
if mkdir -p '@cache@' 2>/dev/null && KERNREC_NAME=$(mktemp '@cache@/new.XXXXXX' 2>/dev/null); then
{ cp release "$KERNREC_NAME" && chmod 644 "$KERNREC_NAME" && mv -f "$KERNREC_NAME" '@cache@/@sha256@'; } 2>/dev/null || rm -f "$KERNREC_NAME"
fi
fi
tar -xf release && rm -f release && chmod -R a+rX . && [ -x kernrec ]
); then KERNREC_BIN=$KERNREC_HOME/kernrec
else echo 'kernrec: the pinned release could not be had: @otherwise@' >&2; fi
