for KERNREC_NAME in @identity@; do
KERNREC_VALUE=$(printenv "$KERNREC_NAME") || KERNREC_VALUE=
case $KERNREC_VALUE in
''|*[!A-Za-z0-9._:/@-]*) ;;
*) @variable@="export $KERNREC_NAME=$KERNREC_VALUE
$@variable@" ;;
esac
done
export @variable@
