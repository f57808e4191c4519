#!/bin/sh
# Takes the place of nvcc in the driver tests. It records its arguments and does what the files
# beside it say.
#   log/calls         one word for each call: compile, dryrun or version
#   log/<kind>.argv   its arguments, each ended by a zero byte
#   log/name          the path that it was called by
#   stdout stderr     what a compile prints; status: its exit status
#   plan              what --dryrun prints, with /keep and the output to be replaced
#   signal            the signal by which a compile ends itself
#   hang              a compile waits to be ended, with its process number in log/pid
#   hang-below        the same, but a child waits, as a compiler under nvcc does
#   slow              a compile takes its time to write the output
# It writes the output as binutils does: a file that exists and is not empty is removed first.
Here=$(dirname "$(readlink -f "$0")")
Kind=compile Keep= Out= Previous=
for Word; do
  case $Previous in
    --keep-dir) Keep=$Word ;;
    -o) Out=$Word ;;
  esac
  case $Word in
    --dryrun) Kind=dryrun ;;
    --version) Kind=version ;;
  esac
  Previous=$Word
done
for Word; do
  printf '%s\0' "$Word"
done >"$Here/log/$Kind.argv"
echo "$Kind" >>"$Here/log/calls"
echo "$0" >"$Here/log/name"

case $Kind in
  version)
    echo "nvcc: NVIDIA (R) Cuda compiler driver"
    echo "Cuda compilation tools, release 13.0, V13.0.88"
    exit 0 ;;
  dryrun)
    # The tools are those beside this script.
    sed -e "s|/keep|$Keep|g" -e "s|obj/saxpy.o|$Out|" -e "s|^\(#\$ _HERE_\)=.*|\1=$Here|" \
      -e "s|^\(#\$ PATH\)=.*|\1=$Here|" "$Here/plan" >&2
    exit 0 ;;
esac
if [ -n "$Keep" ]; then
  for Stem in saxpy scale; do
    cp "$Here/kernels.ptx" "$Keep/$Stem.ptx"
    cp "$Here/kernels.cubin" "$Keep/$Stem.sm_90.cubin"
    echo container >"$Keep/$Stem.fatbin"
  done
fi
if [ -f "$Here/hang" ]; then
  echo $$ >"$Here/log/pid.new" && mv "$Here/log/pid.new" "$Here/log/pid"
  exec sleep 30
fi
if [ -f "$Here/hang-below" ]; then
  sh -c 'echo $$ >"$1.new" && mv "$1.new" "$1"; exec sleep 30' sh "$Here/log/pid"
fi
cat "$Here/stdout"
cat "$Here/stderr" >&2
[ -f "$Here/signal" ] && kill -s "$(cat "$Here/signal")" $$
Status=$(cat "$Here/status")
if [ "$Status" = 0 ] && [ -n "$Out" ]; then
  [ -s "$Out" ] && rm -f "$Out" 2>/dev/null
  if [ -f "$Here/slow" ]; then
    { printf 'made '; sleep 0.02; echo 'by nvcc'; } >"$Out"
  else
    echo "made by nvcc" >"$Out"
  fi
fi
exit "$Status"
