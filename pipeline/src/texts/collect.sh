@program@
if [ -n "$KERNREC_BIN" ]; then
"$KERNREC_BIN" collect @arguments@ || KERNREC_STATUS=$?
else KERNREC_STATUS=1; fi
